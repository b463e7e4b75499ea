//! Which database is driven is said before anything is done there, and stands in every report.

use crate::given_server::{Place, TRUST};
use crate::program::{Home, assert_nowhere, finish};
use crate::pty::Pty;
use crate::server::{self, TestServer};

const PASSWORD: &str = "geheim-und-so-weiter";

#[test]
fn a_database_of_the_environment_is_named_first_and_in_every_report() {
    let Some(place) = Place::new("a database of the environment", "", TRUST) else { return };
    place.execute("create database elsewhere");
    let (dir, port) = (place.server.dir().display().to_string(), place.server.port.to_string());
    let named = format!("database elsewhere, user postgres, socket in {dir}, port {port}");
    let from_environment = |args: &str| {
        let mut command = place.home.command(args.split(' '));
        let variables = [("PGHOST", dir.as_str()), ("PGPORT", &port), ("PGDATABASE", "elsewhere")];
        command.envs(variables).env("PGUSER", "postgres").env("PGPASSWORD", PASSWORD);
        finish(command)
    };
    from_environment("plan tpcb-like -s 1").ok().prints(&[
        "dbname=elsewhere user=postgres",
        &dir,
        &port,
        "the load creates tables pgbench_history, pgbench_tellers, pgbench_accounts, pgbench_branches; its stamp pgdyno_stamp",
    ]);
    let ran = from_environment("run tpcb-like -s 1 -c 2 -t 20").ok().prints(&[&named]);
    // Before the load, and so before anything else.
    let first = ran.stderr.lines().next().unwrap();
    assert!(first.starts_with("target: PostgreSQL ") && first.ends_with(&format!(" (given), {named}")), "{first}");
    let run = place.home.the_run();
    let recorded = ["host", "database", "user"].map(|field| run.text(&format!("/server/place/{field}")).to_owned());
    assert_eq!(recorded, [dir.as_str(), "elsewhere", "postgres"]);
    assert_eq!(run.number("/server/place/port"), f64::from(place.server.port));
    for format in ["text", "markdown", "html"] {
        place.home.run(&["report", "last", "--format", format, "-o", "-"]).ok().prints(&[&named]);
    }
    place.home.run(&["report", "last", "--format", "json"]).ok().prints(&["\"database\": \"elsewhere\""]);
    for step in ["check tpcb-like", "drop tpcb-like", "load tpcb-like -s 1", "load tpcb-like -s 1 --replace"] {
        let first = from_environment(step).ok().stderr.lines().next().unwrap().to_owned();
        assert!(first.starts_with("target: PostgreSQL ") && first.ends_with(&named), "{step}: {first}");
    }
    from_environment("search select-only --no-load --slo p99<10s --min 1 --max 2 --by clients --time 1s --ramp 0")
        .says(&[&format!("target: PostgreSQL {} (given), {named}", version(&place))]);
    assert_nowhere(PASSWORD, place.home.path());
}

fn version(place: &Place) -> String {
    place.ask("show server_version").split(' ').next().unwrap().to_owned()
}

#[test]
fn a_suite_names_its_targets_before_the_first_run_and_a_plan_the_place_behind_a_name() {
    let Some(place) = Place::new("the targets of a suite", "", TRUST) else { return };
    let (dir, port) = (place.server.dir().display().to_string(), place.server.port);
    let config = format!("[target.mine]\ndsn = 'host={dir} port={port} user=postgres dbname=postgres'\n");
    std::fs::write(place.home.join("pgdyno.toml"), config).unwrap();
    let suite = "name = 's'\ntargets = ['mine']\n[[run]]\nwhat = 'select-only'\nscale = 1\ntransactions = 5\n";
    std::fs::write(place.home.join("s.toml"), suite).unwrap();
    let said = place.home.run(&["suite", "run", "s.toml"]).ok().stderr;
    let named = format!("(given), database postgres, user postgres, socket in {dir}, port {port}");
    let (target, first) = (said.find(&named), said.find("run 1 of 1"));
    assert!(target.is_some() && said.contains("target mine: PostgreSQL ") && target < first, "{said}");
    let plan = place.home.run(&["plan", "select-only", "--target", "mine"]).ok();
    plan.prints(&[&format!("target mine: host={dir} port={port} dbname=postgres user=postgres")]);
}

#[test]
fn a_standby_is_called_one() {
    if !server::available("a standby that is named") {
        return;
    }
    let primary = TestServer::start("", "local all all trust\nlocal replication all trust\n");
    let standby = TestServer::standby_of(&primary);
    let target = format!("host={} port={} user=postgres dbname=postgres", standby.dir().display(), standby.port);
    let home = Home::new();
    let ran = home.run(&["check", "tpcb-like", "--target", &target]);
    ran.says(&[&format!("port {}, a standby", standby.port)]);
}

#[test]
fn a_private_server_is_named_as_well() {
    if !server::available("a private server that is named") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    let ran = home.run(&["run", "select-only", "-s", "1", "-c", "1", "-t", "5", "-v"]).ok();
    ran.says(&["target: PostgreSQL ", " (private, ", "database postgres, user "]).prints(&["database postgres, user "]);
}

#[test]
fn who_has_a_server_only_in_the_environment_is_asked_before_anything_is_written() {
    let home = Home::new();
    std::fs::write(home.join("s.toml"), "name = 's'\ntargets = ['none']\n[[run]]\nwhat = 'select-only'\n").unwrap();
    // Nothing listens there: a user who goes on is informed.
    let on_terminal = |args: &str| {
        let mut command = home.command(args.split(' '));
        command.envs([("PGHOST", "127.0.0.1"), ("PGPORT", "1"), ("PGDATABASE", "production"), ("TERM", "xterm")]);
        Pty::start(command, (100, 30))
    };
    for (command, key, words) in [
        ("load select-only -s 1", "n\n", "nothing was written"),
        ("drop select-only", "\n", "nothing was written"),
        ("run select-only -s 1", "y\n", "nothing listens there"),
        ("search select-only -s 1 --slo tps>1", "n\n", "nothing was written"),
        ("ab select-only -s 1 --a work_mem=1MB --b work_mem=2MB", "n\n", "nothing was written"),
        ("check tproc-c -w 1 --isolation", "n\n", "nothing was written"),
        ("suite run s.toml", "n\n", "nothing was written"),
        ("suite start s.toml", "n\n", "nothing was written"),
    ] {
        let mut pty = on_terminal(command);
        pty.until_it_shows("Go on? [y/N]", 1);
        pty.press(key);
        let (status, seen) = pty.end();
        assert!(status.code() == Some(1) && seen.contains("production") && seen.contains(words), "{command}: {seen}");
    }
    let (_, seen) = on_terminal("load select-only -s 1 --yes").end();
    assert!(!seen.contains("Go on?") && seen.contains("nothing listens there"), "{seen}");
}
