//! What a run has seen of its server meanwhile: the files, the record, and what is said of both.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::postgres;
use crate::program::{Home, Run, descendants, eventually, processes};

/// The rows of a source as maps from column to cell. None of the sources that are read has a comma in its cells.
fn rows(run: &Run, source: &str) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(run.path.join("samples").join(format!("{source}.csv"))).unwrap();
    let mut lines = text.lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    let row =
        |line: &str| header.iter().zip(line.split(',')).map(|(name, cell)| ((*name).into(), cell.into())).collect();
    lines.map(row).collect()
}

pub(crate) fn column(run: &Run, source: &str, column: &str) -> Vec<f64> {
    rows(run, source).iter().map(|row| row[column].parse().unwrap()).collect()
}

/// Transactions that the server counted over the whole run beyond those of the clients.
fn more_than_the_clients(run: &Run) -> f64 {
    let of_clients: f64 = run.intervals().iter().map(|row| row["committed"].parse::<f64>().unwrap()).sum();
    of_clients * (run.number("/summary/tpm") / run.number("/summary/tpm_client") - 1.0)
}

#[test]
fn a_run_has_samples_of_its_server_unless_it_is_not_to() {
    let Some(place) = Place::new("samples", "", TRUST) else { return };
    // The times of WAL came with PostgreSQL 14; its amount is known to all.
    let wal = if postgres::major() >= 14 { ", track_wal_io_timing" } else { "" };
    place
        // At a rate, so that a moment between two counts is no transaction.
        .run("run select-only -s 1 -c 2 -R 100 -T 6 --ramp 1 -v")
        .ok()
        // On a busy machine processes may be sampled less often, which is said after these.
        .prints(&[&format!("samples: without track_io_timing{wal}, statements")]);
    let run = place.home.the_run();
    let sources = run.at("/samples/sources").to_string();
    for source in ["bgwriter", "checkpointer", "database", "tables", "waits", "wal"] {
        assert!(sources.contains(&format!("\"{source}\"")), "{sources}");
    }
    let (at_s, commits) = (column(&run, "database", "at_s"), column(&run, "database", "xact_commit"));
    assert!(at_s[0] < 1.0 && at_s.is_sorted() && commits.is_sorted(), "{at_s:?} {commits:?}");
    let of_clients: f64 = run.intervals().iter().map(|row| row["committed"].parse::<f64>().unwrap()).sum();
    assert!(commits.last().unwrap() - commits[0] > of_clients / 4.0, "{commits:?}");
    assert!(rows(&run, "tables").iter().any(|row| row["table"] == "pgbench_accounts"));
    assert!(run.number("/samples/queries") > 10.0 && run.number("/samples/query_s") > 0.0);
    assert!(run.record["samples"]["notes"].is_null() && run.record["events"].as_array().is_none_or(Vec::is_empty));
    // Looking is none of the server's work: of more than sixty looks none counts. What is left are statements at the edges and the
    // beginning of sessions, and before 15 counters that are reported late.
    let more = more_than_the_clients(&run);
    assert!((-1.0..40.0).contains(&more), "{more}");

    place.run("run select-only -s 1 -c 2 -t 20 --no-samples").ok();
    let run = place.home.runs().pop().unwrap();
    assert!(run.record["samples"].is_null() && !run.path.join("samples").exists());
    assert!(run.number("/summary/tpm") > 0.0);
}

#[test]
fn without_a_server_there_is_nothing_to_sample() {
    let home = Home::new();
    for args in [&["run", "noop", "-t", "10"][..], &["run", "select-only", "--target", "null", "-t", "10"]] {
        home.run(args).ok();
        let run = home.runs().pop().unwrap();
        assert!(run.record["samples"].is_null() && !run.path.join("samples").exists());
    }
}

#[test]
fn statements_are_counted_and_explained() {
    let conf = "shared_preload_libraries = 'pg_stat_statements'\n";
    let Some(place) = Place::new("statements", conf, TRUST) else { return };
    place.execute("create extension pg_stat_statements");
    let ran = place.run("run tpcb-like -s 1 -c 1 -T 2 --ramp 0 --statement-plans 3 -v").ok();
    ran.prints(&["plans of statements in samples/plans.txt"]);
    let run = place.home.the_run();
    let statements = std::fs::read_to_string(run.path.join("samples/statements.csv")).unwrap();
    assert!(statements.contains("UPDATE pgbench_branches") && !statements.contains("pg_stat_database"), "{statements}");
    let plans = std::fs::read_to_string(run.path.join("samples/plans.txt")).unwrap();
    assert!(plans.contains("UPDATE pgbench_") && plans.contains("Update on pgbench_"), "{plans}");
}

#[test]
fn a_reset_in_the_middle_is_said_and_what_it_invalidates_is_not_reported() {
    let Some(place) = Place::new("a reset in the middle", "", TRUST) else { return };
    let mut running = place.start("run select-only -s 1 -c 2 -R 200 -T 6 --ramp 0");
    running.until_it_says("progress:", 2);
    place.execute("select pg_stat_reset()");
    let ran = running.end().ok().says(&["warning: at ", "the counters of database were reset"]);
    let run = place.home.the_run();
    let (events, warnings) = (run.at("/events").to_string(), run.at("/warnings").to_string());
    assert!(events.contains("\"kind\":\"reset\"") && warnings.contains("were reset"), "{events} {warnings}");
    assert!(run.record["summary"]["tpm"].is_null() && run.record["summary"]["cache_hit_ratio"].is_null());
    assert!(run.number("/summary/tps") > 0.0, "{}", ran.stdout);
}

#[test]
fn a_restart_during_a_run_that_reconnects_is_said_and_the_looks_go_on() {
    let Some(mut place) = Place::new("a restart in the middle", "", TRUST) else { return };
    let mut running = place.start("run select-only -s 1 -c 2 -T 12 --ramp 0 -R 200 --reconnect 60s");
    running.until_it_says("progress:", 2);
    place.server.crash();
    place.server.restart();
    running.end().says(&["the server was restarted"]);
    let run = place.home.the_run();
    let restart = run.at("/events").as_array().unwrap().iter().find(|event| event["kind"] == "restart").unwrap();
    let until_s = restart["until_s"].as_f64().unwrap();
    assert!(restart["from_s"].as_f64().unwrap() < until_s);
    assert!(*column(&run, "database", "at_s").last().unwrap() >= until_s);
    assert!(run.record["summary"]["tpm"].is_null());
}

#[test]
fn a_profile_is_in_the_run_directory_and_on_the_page() {
    if !crate::postgres::available("a profile") {
        return;
    }
    let home = Home::new();
    let args = ["run", "select-only", "-s", "1", "-c", "2", "-T", "5", "--ramp", "1", "-n", "-q", "--perf"];
    // Without perf, or the right to use it, that is said before anything is started.
    if let Some((why, _)) = pgdyno_server::os::perf::hindrance() {
        home.run(&args).ended(1).says(&["--perf", &why]);
        assert!(home.runs().is_empty());
        return crate::skipped::skipped(&format!("a profile: {why}"));
    }
    let ran = home.run(&args).ok();
    let run = home.the_run();
    let Some(profile) = run.record.get("profile") else {
        // A machine may not let a guest or a container count anything.
        let samples = run.at("/samples").to_string();
        assert!(ran.stderr.contains("the server has no profile: "), "{}\n{samples}", ran.stderr);
        return crate::skipped::skipped(&format!("a profile: perf cannot sample here: {samples}"));
    };
    let read = |name: &str| std::fs::read_to_string(run.path.join(name)).unwrap();
    let (stacks, svg, page) = (read("perf.folded"), read("perf.svg"), read("report.html"));
    let samples: u64 = stacks.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(profile["samples"], samples);
    assert!(stacks.lines().all(|line| line.starts_with("postgres")), "{stacks}");
    // The backends' files are known: a stack that ends in the program itself, or in its libraries.
    assert!(stacks.contains("[postgres]") || stacks.contains("PostgresMain"), "{stacks}");
    assert!(svg.starts_with("<svg ") && svg.contains("<title>postgres: "), "{svg}");
    assert!(page.contains("Profile of the server") && page.contains("<title>postgres: "));
    assert!(!run.path.join(".perf").exists(), "perf's own files are removed");
    // What it cost is found in the run, by a pause, and said with the figure.
    assert_eq!(profile["pauses"], 1);
    let slower = run.number("/profile/slower_percent");
    let warnings = run.at("/warnings").to_string();
    assert!(
        warnings.contains("--perf disturbs the server") && warnings.contains("a pause of 1 s"),
        "{slower} {warnings}"
    );
    home.assert_clean();
}

#[test]
fn perf_ends_with_a_run_that_is_killed_and_polls_only_while_there_is_something_to_read() {
    if let Some((why, _)) = pgdyno_server::os::perf::hindrance() {
        return crate::skipped::skipped(&format!("a profile of a run that is killed: {why}"));
    }
    let Some(place) = Place::new("a profile of a run that is killed", "", TRUST) else { return };
    let mut running = place.start("run select-only -s 1 -c 2 -T 1h --ramp 0 --perf");
    running.until_it_says("progress:", 1);
    let perf = || descendants(running.pid()).into_iter().find(|process| process.args.starts_with("perf record"));
    let Some(perf) = perf() else {
        return crate::skipped::skipped("a profile of a run that is killed: perf cannot attach here");
    };
    // A session that has ended is not one that it was given: it is given the postmaster, and what stays.
    let given: Vec<String> = perf.args.split_whitespace().last().unwrap().split(',').map(str::to_owned).collect();
    let backends =
        place.ask("select string_agg(pid::text, ',') from pg_stat_activity where backend_type = 'client backend'");
    assert!(!backends.split(',').any(|pid| given.iter().any(|known| known == pid)), "{given:?} {backends}");
    assert!(given.len() > 1, "{given:?}");
    running.signal(Signal::KILL);
    drop(running);
    eventually("perf has ended", Duration::from_secs(20), || processes().iter().all(|process| process.pid != perf.pid));
}

#[test]
fn a_profile_of_another_machine_is_refused_with_what_to_do() {
    let home = Home::new();
    for target in ["null", "host=db1.invalid dbname=bench"] {
        home.run(&["run", "select-only", "--target", target, "--perf"])
            .ended(1)
            .says(&["--perf profiles a PostgreSQL on this machine", "perf record"]);
    }
    home.run(&["run", "select-only", "--perf", "--no-samples"]).ended(1).says(&["cannot be used with"]);
}
