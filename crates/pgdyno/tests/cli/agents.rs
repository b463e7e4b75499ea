//! Several drivers as one: agents that meet in PostgreSQL.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::program::{Home, PATIENCE, Running, assert_nowhere, eventually, finish, processes};
use crate::sshd::Sshd;

/// Starts agents at the place's database, and waits until they wait. Without a target they may drive that database.
fn agents(place: &Place, number: usize, args: &[&str]) -> Vec<Running> {
    let target = place.target();
    let own = ["--allow-target", target.as_str()];
    let allowing =
        if args.iter().any(|arg| arg.ends_with("-target") || *arg == "--target") { &[][..] } else { &own[..] };
    let start = |_| place.home.start(&[&["agent", "--meet", &target], allowing, args].concat());
    let mut agents: Vec<_> = (0..number).map(start).collect();
    agents.iter_mut().for_each(|agent| agent.until_it_says("waits for runs", 1));
    agents
}

fn history(place: &Place) -> String {
    let sql =
        "SELECT count(*) || md5(string_agg(concat_ws(',', tid, bid, aid, delta), ';' ORDER BY tid, bid, aid, delta))
               FROM pgbench_history";
    place.server.admin().query_one(sql).unwrap()
}

#[test]
fn several_agents_do_what_one_driver_does_one_run_after_another() {
    let Some(place) = Place::new("agents", "", TRUST) else { return };
    let target = place.target();
    let run = |more: &[&str]| {
        let args = ["run", "tpcb-like", "-s", "2", "-c", "8", "-j", "4", "-t", "40", "--random-seed", "5", "-q"];
        let args = [&args, &["--replace", "--target", &target][..], more].concat();
        place.home.run(&args).ok()
    };
    run(&[]);
    let by_one = history(&place);
    assert!(by_one.starts_with("320"), "{by_one}");

    let mut waiting = agents(&place, 2, &[]);
    place.home.run(&["agents", "--meet", &target]).ok().prints(&["agent  host", "idle"]);
    let shared = ["--meet", &target, "--agents", "2"];
    let ran = run(&shared);
    ran.prints(&["8 clients of 2 drivers"]);
    assert_eq!(history(&place), by_one, "the same seed, the same transactions");
    let [alone, together] = place.home.runs().try_into().ok().unwrap();
    assert_eq!(alone.number("/summary/committed"), together.number("/summary/committed"));
    assert_eq!((together.text("/status"), together.number("/plan/agents")), ("complete", 2.0));
    assert_eq!(together.checks_that_hold().last(), Some(&"after the run"));
    let drivers = together.at("/drivers").as_array().unwrap();
    assert_eq!(drivers.iter().map(|driver| driver["clients"].as_u64().unwrap()).collect::<Vec<_>>(), [4, 4]);
    assert!(
        drivers.iter().all(|driver| driver["start_ms"].is_f64() && driver["client"]["threads"] == 2),
        "{drivers:?}"
    );
    let reported = together.at("/warnings").to_string();
    assert!(reported.contains("the meeting database is on the measured server"), "{reported}");

    // An open loop of a timed run, by the agents that are there still.
    let args =
        ["run", "select-only", "-s", "2", "-c", "6", "-R", "300", "-T", "3", "--ramp", "1", "-q", "--target", &target];
    place.home.run(&[&args[..], &shared].concat()).ok();
    let rated = place.home.runs().pop().unwrap();
    assert_eq!(rated.intervals().len(), 5, "intervals of both drivers are one");
    assert!(rated.number("/summary/committed") > 600.0, "{}", rated.at("/summary"));
    place.home.run(&["report", "last", "-v"]).ok().prints(&["driver 1 on", "from the common start"]);
    place.home.run(&["run", "--again", "last", "-q"]).ended(1).says(&["--agents 2 needs a place where they meet"]);
    place.home.run(&["run", "--again", "last", "-q", "--meet", &target]).ok();
    assert_eq!(place.home.runs().pop().unwrap().text("/plan_hash"), rated.text("/plan_hash"));
    place
        .home
        .run(&["run", "--again", "last", "-q", "--meet", &target, "--agents", "3"])
        .ended(1)
        .says(&["--agents asks for 3 agents, and the run had 2 agents", "give --agents 2, or ssh: and 2 machines"]);

    waiting.iter_mut().for_each(|agent| agent.until_it_says("released", 3));
    waiting.iter().for_each(|agent| agent.signal(Signal::TERM));
    waiting.into_iter().for_each(|agent| drop(agent.end().ok()));
    place.home.run(&["agents", "--meet", &target]).ok().prints(&["no agent"]);
}

#[test]
fn streams_of_agents_have_their_own_name_and_each_of_their_queries_is_kept() {
    let Some(place) = Place::with_suppliers("streams of agents", "fsync = off\nshared_buffers = 128MB\n", TRUST) else {
        return;
    };
    let target = place.target();
    let shared = ["--target", &target, "--meet", &target, "--agents", "2"];
    // Nested loops keep each stream busy for as long as the run.
    let waiting = agents(&place, 2, &["--once"]);
    let run = "run ch-benchmark -c 2 -R 50 --streams 2 --queries 5 -j 2 -T 2 --ramp 0 --grace 0.1 --no-check \
               --analytics-set enable_hashjoin=off --analytics-set enable_mergejoin=off \
               --analytics-set enable_indexscan=off --analytics-set enable_indexonlyscan=off \
               --analytics-set enable_bitmapscan=off --analytics-set jit=off";
    let words: Vec<_> = run.split_whitespace().collect();
    let running = place.home.start(&[&words[..], &shared].concat());
    let sessions = |name: &str| {
        place.ask(&format!(
            "select count(*) from pg_stat_activity where application_name = '{name}' and backend_type = 'client backend' \
             and pid <> pg_backend_pid() and state <> 'idle' and query like '%su_nationkey%'"
        ))
    };
    eventually("both streams are at work by their own name", PATIENCE, || sessions("pgdyno queries") == "2");
    assert_eq!(sessions("pgdyno"), "0");
    running.end().ok().prints(&["NOPM", "left out of the times above: q5"]);
    let run = place.home.runs().pop().unwrap();
    let streams = run.at("/analytics/stages/0");
    assert_eq!((streams["streams"].as_u64(), run.number("/plan/agents")), (Some(2), 2.0));
    let executions = std::fs::read_to_string(run.path.join("executions.csv")).unwrap();
    let of_client = |client: &str| executions.lines().filter(|line| line.starts_with(client)).count();
    assert!(of_client("mixed,2,q5,") > 0 && of_client("mixed,3,q5,") > 0, "{executions}");
    assert!(run.number("/summary/committed") > 0.0);
    waiting.into_iter().for_each(|agent| drop(agent.end().ok()));
}

#[test]
fn an_agent_that_is_lost_makes_the_run_invalid_and_keeps_what_was_measured() {
    let Some(place) = Place::new("a lost agent", "", TRUST) else { return };
    let target = place.target();
    place.home.run(&["load", "select-only", "-s", "1", "-q", "--target", &target]).ok();
    let waiting = agents(&place, 2, &[]);
    let begin = |time: &str| {
        let args =
            ["run", "select-only", "-c", "4", "-j", "2", "-R", "400", "--ramp", "0", "--target", &target, "--no-check"];
        let mut run = place.home.start(&[&args[..], &["-T", time, "--meet", &target, "--agents", "2"]].concat());
        run.until_it_says("progress: 2.0 s", 1);
        run
    };
    let run = begin("4");
    waiting[0].signal(Signal::KILL);
    run.end().ended(2).prints(&["invalid: agent", "nothing was heard of it for 20 s"]);
    let invalid = place.home.runs().pop().unwrap();
    assert_eq!(invalid.text("/status"), "invalid");
    assert!(invalid.committed_by_intervals() > 0 && invalid.number("/summary/committed") > 0.0);
    let lost: Vec<_> =
        invalid.at("/drivers").as_array().unwrap().iter().map(|driver| driver["lost"].is_string()).collect();
    assert_eq!(lost.iter().filter(|lost| **lost).count(), 1, "{lost:?}");
    drop(waiting);

    // One whose user ends it says so itself.
    let waiting = agents(&place, 2, &["--once"]);
    let run = begin("30");
    waiting[1].signal(Signal::TERM);
    run.end().ended(2).prints(&["invalid: agent", "its user ended it"]);
    waiting.into_iter().for_each(|agent| drop(agent.end()));
}

#[test]
fn each_agent_has_its_own_password_and_none_is_stored() {
    const PASSWORD: &str = "nobody_else_knows";
    let hba = format!("host all app all scram-sha-256\n{TRUST}");
    let Some(place) = Place::new("passwords of agents", "", &hba) else { return };
    let sql = format!("CREATE ROLE app LOGIN PASSWORD '{PASSWORD}'; CREATE DATABASE app OWNER app");
    for statement in sql.split(';') {
        place.server.admin().execute(statement).unwrap();
    }
    let address = format!("host=127.0.0.1 port={} user=app dbname=app", place.server.port);
    let meet = place.target();
    let start = |password: &str| {
        let mut command = place.home.command(["agent", "--meet", &meet, "--allow-target", &address]);
        command.env("PGPASSWORD", password);
        let mut agent = Running::new(command);
        agent.until_it_says("waits for runs", 1);
        agent
    };
    let run = || {
        let args =
            ["run", "tpcb-like", "-s", "1", "-c", "2", "-j", "2", "-t", "5", "--target", &address, "--meet", &meet];
        let mut command = place.home.command([&args[..], &["--agents", "2"]].concat());
        command.env("PGPASSWORD", PASSWORD);
        crate::program::finish(command)
    };
    let good = start(PASSWORD);
    let wrong = start("another");
    run().ended(1).says(&["agent 2 on", "password authentication failed"]);
    assert_eq!(place.home.runs().len(), 0, "reported before anything is written");
    drop(wrong);
    // The meeting forgets an agent that was killed.
    let target = place.target();
    let is_gone = || place.home.run(&["agents", "--meet", &target]).stdout.lines().count() > 2;
    place.server.admin().execute("DELETE FROM pgdyno_meet.agents WHERE agent = 2").unwrap();
    assert!(!is_gone());
    let second = start(PASSWORD);
    run().ok();
    assert_nowhere(PASSWORD, &place.home.join("pgdyno-results"));
    let stored =
        "SELECT count(*) FROM pgdyno_meet.orders WHERE position(convert_to('nobody_else', 'UTF8') IN payload) > 0";
    assert_eq!(place.server.admin().query_one(stored).unwrap(), "0");
    drop((good, second));
}

#[test]
fn what_cannot_be_is_reported_before_anything_is_written() {
    let home = Home::new();
    let run = |more: &str| {
        let args = ["run", "select-only", "-c", "4", "--target", "host=127.0.0.1 port=1"];
        home.run(&args.into_iter().chain(more.split(' ')).collect::<Vec<_>>()).ended(1)
    };
    run("--agents 2").says(&["--agents 2 needs a place where they meet", "give --meet"]);
    run("--meet host=x").says(&["--meet needs the number of agents"]);
    run("--agents 9 --meet port=1").says(&["9 agents need an engine thread each", "for 4 clients"]);
    run("--agents 2 --meet port=1 --log").says(&["--log needs one driver"]);
    let refused = home.run(&["run", "select-only", "-c", "4", "--agents", "2", "--meet", "host=127.0.0.1 port=1"]);
    refused.ended(1).says(&["agents cannot reach a private server", "--target"]);
    let refused =
        home.run(&["run", "select-only", "--target", "null", "--agents", "2", "--meet", "host=127.0.0.1 port=1"]);
    refused.ended(1).says(&["failed to reach the meeting database", "nothing listens there", "any PostgreSQL"]);
    let shared = ["--target", "host=x", "--agents", "2", "--meet", "host=x"];
    let refused = home.run(&[&["run", "ch-benchmark", "-c", "4", "-D", "markers=true"][..], &shared].concat());
    refused.ended(1).says(&["the age of what queries see is measured by one clock: it needs one driver"]);
    let refused = home.run(&[&["run", "ycsb-d", "-c", "4"][..], &shared].concat());
    refused.ended(1).says(&["share which records exist: it needs one driver"]);
    assert_eq!(home.runs().len(), 0);
}

#[test]
fn an_agent_drives_only_the_targets_that_it_was_started_for() {
    let Some(place) = Place::new("targets of agents", "", TRUST) else { return };
    place.server.admin().execute("CREATE DATABASE allowed").unwrap();
    place.server.admin().execute("CREATE ROLE other LOGIN SUPERUSER").unwrap();
    let meet = place.target();
    let allowed = meet.replace("dbname=postgres", "dbname=allowed");
    let run = |target: &str, agents: &str, more: &[&str]| {
        let args = ["run", "select-only", "-s", "1", "-c", "2", "-j", "2", "-t", "5", "-q", "--meet", &meet];
        place.home.run(&[&args[..], &["--target", target, "--agents", agents], more].concat())
    };
    let refused = place.home.run(&["agent", "--meet", &meet]).ended(1);
    refused.says(&["no server is named that this agent may drive", "--allow-target"]);
    let refused = place.home.run(&["agent", "--meet", &meet, "--allow-target", "embedded"]).ended(1);
    refused.says(&["agents cannot reach a private server"]);

    // By its address, and by a name of its own pgdyno.toml.
    std::fs::write(place.home.join("pgdyno.toml"), format!("[target.mine]\ndsn = \"{allowed}\"\n")).unwrap();
    let _first = agents(&place, 1, &["--allow-target", &allowed]);
    let _second = agents(&place, 1, &["--allow-target", "mine"]);
    run(&allowed, "2", &[]).ok();
    for other in [meet.clone(), allowed.replace("user=postgres", "user=other")] {
        run(&other, "2", &[]).ended(1).says(&[" on ", "it may not drive", "dbname=allowed", "--allow-target \"host="]);
    }
    assert_eq!(place.home.runs().len(), 1, "reported before anything is written");
    let loaded = place.ask("select count(*) from pg_class where relname = 'pgbench_accounts'");
    assert_eq!(loaded, "0", "the other database has no tables");
}

#[test]
fn commands_of_scripts_run_on_agents_that_allow_it() {
    let Some(place) = Place::new("commands on agents", "", TRUST) else { return };
    let target = place.target();
    let marker = place.home.join("witness");
    std::fs::write(place.home.join("touch.sql"), format!("\\shell touch {}\nselect 1;\n", marker.display())).unwrap();
    let run = || {
        let args = ["run", "touch.sql", "-c", "1", "-j", "1", "-t", "1", "-q", "--target", &target];
        place.home.run(&[&args[..], &["--meet", &target, "--agents", "1"]].concat())
    };
    let careful = agents(&place, 1, &[]);
    run().says(&["its scripts have \\shell or \\setshell", "--allow-shell"]);
    assert!(!marker.exists());
    careful.iter().for_each(|agent| agent.signal(Signal::TERM));
    careful.into_iter().for_each(|agent| drop(agent.end()));
    let _trusting = agents(&place, 1, &["--allow-target", &target, "--allow-shell"]);
    run().ok();
    assert!(marker.exists());
}

#[test]
fn tasks_that_others_write_get_no_connection_no_password_and_no_program() {
    let Some(place) = Place::new("foreign tasks", "", TRUST) else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = place.target();
    let program = place.home.join("bin");
    std::fs::create_dir_all(&program).unwrap();
    let mut command = place.home.command(["agent", "--meet", &target, "--allow-target", &target]);
    command.env("PGPASSWORD", "nobody_else_knows");
    let mut agent = Running::new(command);
    agent.until_it_says("waits for runs", 1);

    let mut admin = place.server.admin();
    let version = env!("CARGO_PKG_VERSION");
    let run = "INSERT INTO pgdyno_meet.runs (what, host, pid, program) VALUES ('x', 'x', 1, '{}') RETURNING run";
    let run = admin.query_one(&run.replace("{}", version)).unwrap();
    // A coordinator is alive while its beat rises.
    let mut say = |step: &str, task: u32, payload: &str| {
        admin
            .execute(&format!(
                "UPDATE pgdyno_meet.runs SET beat = beat + 1, seen_at = clock_timestamp() WHERE run = {run};
                 INSERT INTO pgdyno_meet.orders (run, agent, step, task, payload) VALUES ({run}, 1, '{step}', {task}, '{payload}')
                 ON CONFLICT (run, agent) DO UPDATE SET step = excluded.step, task = excluded.task, payload = excluded.payload"
            ))
            .unwrap();
    };
    say("claim", 0, "");
    eventually("the agent serves the run", PATIENCE, || {
        place.ask("SELECT count(*) FROM pgdyno_meet.agents WHERE run IS NOT NULL") == "1"
    });
    let elsewhere = format!("host=127.0.0.1 port={port} dbname=x user=x");
    let look = |target: &str| format!(r#"{{"look": {{"target": "{target}", "links": 1}}}}"#);
    let tasks = [
        look(&elsewhere),
        look(&format!("{target} password=x")),
        look(&format!("postgresql://postgres@127.0.0.1:{port}/postgres")),
        look(&format!("embedded:{}", program.display())),
        look("embedded"),
        look("service=x"),
        r#"{"look": "#.to_owned(),
        "[".repeat(100_000),
    ];
    for (nth, task) in tasks.iter().enumerate() {
        let nth = nth as u32 + 1;
        say("do", nth, task);
        let why = format!(
            "SELECT coalesce(max(failure), '') FROM pgdyno_meet.agents WHERE task = {nth} AND state = 'failed'"
        );
        let mut failure = String::new();
        eventually("the agent refuses", PATIENCE, || {
            say("do", nth, task);
            failure = place.ask(&why);
            !failure.is_empty()
        });
        let is_refused = ["may not drive", "cannot be read"].iter().any(|why| failure.contains(why));
        assert!(is_refused, "{task}: {failure}");
    }
    assert!(listener.accept().is_err(), "nothing was connected");
    drop(agent);
}

#[test]
fn an_agent_sends_its_password_to_another_machine_by_scram_only() {
    const PASSWORD: &str = "nobody_else_knows";
    let hba = format!("host all app all password\n{TRUST}");
    let Some(place) = Place::new("clear-text passwords of agents", "", &hba) else { return };
    for statement in [&format!("CREATE ROLE app LOGIN PASSWORD '{PASSWORD}'"), "CREATE DATABASE app OWNER app"] {
        place.server.admin().execute(statement).unwrap();
    }
    // A name that is not known to be this machine.
    let address = format!("host=127.1 port={} user=app dbname=app", place.server.port);
    let meet = place.target();
    let start = |allowed: &str| {
        let mut command = place.home.command(["agent", "--meet", &meet, "--allow-target", allowed]);
        command.env("PGPASSWORD", PASSWORD);
        let mut agent = Running::new(command);
        agent.until_it_says("waits for runs", 1);
        agent
    };
    let run = || {
        let args = ["run", "select-only", "-s", "1", "-c", "1", "-j", "1", "-t", "5", "-q", "--target", &address];
        let mut command = place.home.command([&args[..], &["--meet", &meet, "--agents", "1"]].concat());
        command.env("PGPASSWORD", PASSWORD);
        finish(command)
    };
    let careful = start(&address);
    run().ended(1).says(&["agent 1 on", "authentication method 'password'", "by SCRAM only", "require_auth="]);
    careful.signal(Signal::TERM);
    drop(careful.end());
    let _reported = start(&format!("{address} require_auth=password"));
    run().ok();
}

#[test]
fn too_few_agents_and_another_server_are_reported() {
    let Some(place) = Place::new("agents that do not suit", "", TRUST) else { return };
    let target = place.target();
    let _agents = agents(&place, 1, &["--target", "host=127.0.0.1 port=1"]);
    let run = |number: &str| {
        let args = ["run", "select-only", "-c", "4", "--target", &target, "--meet", &target, "--agents", number];
        place.home.run(&[&args[..], &["--wait", "1"]].concat()).ended(1)
    };
    run("3").says(&["1 of 3 agents came to", "within 1 s", "pgdyno agent --meet"]);
    run("1").says(&["agent 1 on", "cannot connect to 127.0.0.1:1"]);
    place.server.admin().execute("UPDATE pgdyno_meet.agents SET program = '0.0.9'").unwrap();
    run("1").says(&["1 of another version of pgdyno: 0.0.9 on", "install pgdyno 0."]);
    assert_eq!(place.home.runs().len(), 0);
}

#[test]
fn agents_help_with_a_load_and_others_do_what_a_killed_one_leaves() {
    let Some(place) = Place::with_warehouse("a load by agents", "", TRUST) else { return };
    place.execute("CREATE DATABASE shared");
    let target = |name: &str| {
        format!("host={} port={} user=postgres dbname={name}", place.server.dir().display(), place.server.port)
    };
    let meet = place.target();
    let digest = |name: &str| {
        let mut admin = pgdyno_net::Admin::connect(&place.server.resolve(&target(name))).unwrap();
        let tables =
            ["stock", "customer", "orders", "order_line", "new_order", "history", "district", "warehouse", "item"];
        tables.map(|table| {
            admin
                .query_one(&format!("SELECT count(*) || ' ' || sum(hashtext(t::text)::bigint) FROM {table} t"))
                .unwrap()
        })
    };
    let load = |name: &str, more: &[&str]| {
        place.home.start(&[&["load", "tproc-c", "-w", "1", "--target", &target(name), "--loaders", "1"], more].concat())
    };

    let mut waiting = agents(&place, 2, &["--allow-target", &target("shared")]);
    let shared = ["--meet", &meet, "--agents", "2"];
    let loading = load("shared", &shared);
    waiting[0].until_it_says("helps to load tproc-c", 1);
    std::thread::sleep(Duration::from_millis(300));
    waiting.remove(0).signal(Signal::KILL);
    loading.end().ok().says(&["others did its part"]);
    // One driver loaded what was copied.
    assert_eq!(digest("shared"), digest("postgres"));
    place.home.run(&["check", "tproc-c", "--target", &target("shared")]).ok();

    let refused = place.home.run(&["load", "tproc-c", "-w", "1", "--target", &target("shared"), "--agents", "2"]);
    refused.ended(1).says(&["--agents 2 needs a place where they meet"]);
}

/// The stages of a run with their figures, and each driver's clients and stages after the first.
fn stages(run: &crate::program::Run) -> (Vec<String>, Vec<u64>, Vec<Vec<u64>>) {
    let name = |stage: &serde_json::Value| stage["name"].as_str().unwrap().to_owned();
    let drivers = run.at("/drivers").as_array().unwrap();
    let later = |driver: &serde_json::Value| {
        let stages = driver["later_stages"].as_array();
        stages.into_iter().flatten().map(|stage| stage["clients"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    (
        run.at("/stages").as_array().unwrap().iter().map(name).collect(),
        drivers.iter().map(|driver| driver["clients"].as_u64().unwrap()).collect(),
        drivers.iter().map(later).collect(),
    )
}

#[test]
fn agents_run_stages_one_after_the_other_and_one_that_ends_between_makes_the_run_invalid() {
    let conf = "fsync = off\nshared_buffers = 256MB\n";
    let Some(place) = Place::with_suppliers("stages of agents", conf, TRUST) else { return };
    let of_ch = place.target();
    place.server.admin().execute("CREATE DATABASE h").unwrap();
    let of_h = of_ch.replace("dbname=postgres", "dbname=h");
    let mut waiting = agents(&place, 2, &["--allow-target", &of_h, "--allow-target", &of_ch]);
    let with = |args: &[&str], target: &str| -> Vec<String> {
        let shared = ["--target", target, "--meet", &place.target(), "--agents", "2"];
        [&["run"], args, &shared].concat().into_iter().map(str::to_owned).collect()
    };
    let ran = |args: &[&str], target: &str| finish(place.home.command(with(args, target)));

    // A power stage with one client, then a throughput stage with three.
    let power = ["tproc-h", "-s", "0.01", "--streams", "3", "-j", "2", "--queries", "1,6", "--no-check"];
    ran(&power, &of_h).ok().prints(&["throughput"]);
    let one = place.home.the_run();
    let (names, first, later) = stages(&one);
    assert_eq!((names, first), (vec!["power".to_owned(), "throughput".to_owned()], vec![1, 0]));
    assert_eq!(later.iter().map(|stages| stages.iter().sum::<u64>()).sum::<u64>(), 3, "{later:?}");
    let executions = std::fs::read_to_string(one.path.join("executions.csv")).unwrap();
    let of = |stage: &str| executions.lines().filter(|line| line.starts_with(&format!("{stage},"))).count();
    assert!(of("power") >= 2 && of("throughput") >= 6, "{executions}");
    let starts = |stage: &str| -> Vec<f64> {
        let of_stage = executions.lines().filter(|line| line.starts_with(&format!("{stage},")));
        of_stage.map(|line| line.split(',').nth(3).unwrap().parse().unwrap()).collect()
    };
    let least = |stage: &str| starts(stage).into_iter().fold(f64::INFINITY, f64::min);
    assert!(starts("power").iter().all(|start| *start < least("throughput")), "one time over all stages: {executions}");

    place.home.run(&["report", "last", "-v"]).ok().prints(&["throughput: 1 client, busiest thread", "from its start"]);

    // Transactions and queries together, then each alone; its agents have connections of their own in each.
    let mixed =
        ["ch-benchmark", "-w", "1", "-c", "2", "-j", "2", "-R", "50", "--streams", "1", "--queries", "6", "--no-check"];
    let alone = ["-T", "1", "--ramp", "0", "--alone"];
    ran(&[&mixed[..], &alone].concat(), &of_ch).ok().prints(&["together: NOPM"]);
    let both = place.home.runs().pop().unwrap();
    assert_eq!(both.text("/status"), "complete");
    let (names, first, later) = stages(&both);
    assert_eq!((names.len(), first.iter().sum::<u64>()), (3, 3));
    assert!(later.iter().all(|stages| stages.len() == 2), "{later:?}");
    assert!(both.number("/stages/2/groups/0/summary/committed") > 0.0 && both.number("/metrics/nopm/value") > 0.0);
    let intervals = std::fs::read_to_string(both.path.join("intervals-by-group.csv")).unwrap();
    let starts = intervals.lines().skip(1).map(|line| line.split(',').nth(4).unwrap().parse().unwrap());
    let starts: Vec<f64> = starts.collect();
    assert!(starts.windows(2).all(|pair| pair[0] <= pair[1]), "one time over all stages: {starts:?}");

    // One of them ends in the second stage: the first one stands.
    let long = with(&[&mixed[..], &["-T", "2", "--ramp", "0", "--alone"]].concat(), &of_ch);
    let long = Running::new(place.home.command(long));
    waiting[0].until_it_says("stage 2", 3);
    waiting[1].signal(Signal::TERM);
    long.end().ended(2).prints(&["invalid", "its user ended it"]);
    let cut = place.home.runs().pop().unwrap();
    assert_eq!(cut.text("/status"), "invalid");
    assert!(cut.number("/summary/committed") > 0.0 && cut.number("/stages/0/groups/1/summary/committed") > 0.0);
    // Those that are left are free again.
    waiting[0].until_it_says("released", 3);
    drop(waiting);
}

#[test]
fn an_agent_that_is_killed_while_a_run_loads_ends_it_and_the_next_run_has_the_data() {
    let Some(place) = Place::new("an agent killed in the load of a run", "", TRUST) else { return };
    let target = place.target();
    let mut waiting = agents(&place, 2, &[]);
    let args = ["run", "tproc-c", "-w", "1", "-c", "2", "-j", "2", "-t", "5", "--loaders", "1", "--target", &target];
    let run = [&args[..], &["--meet", &target, "--agents", "2"]].concat();
    let mut running = place.home.start(&run);
    waiting[0].until_it_says("helps to load tproc-c", 1);
    let killed = waiting.remove(0);
    let sql = format!("UPDATE pgdyno_meet.agents SET run = NULL, number = number + 1 WHERE pid = {}", killed.pid());
    drop(killed);
    // The meeting notices a silent agent after 20 s; here it is reported at once.
    place.server.admin().execute(&sql).unwrap();
    running.until_it_says("others did its part", 1);
    running.end().ended(2).says(&["was lost during the load, which the others have done", "start that agent again"]);
    let failed = place.home.the_run();
    assert_eq!(failed.text("/status"), "failed");
    place.server.admin().execute("DELETE FROM pgdyno_meet.agents WHERE run IS NULL AND state = 'idle'").unwrap();
    let _more = agents(&place, 1, &[]);
    place.home.run(&[&args[..], &["--meet", &target, "--agents", "1", "-q"]].concat()).ok();
    let runs = place.home.runs();
    assert_eq!(runs[1].text("/status"), "complete");
    assert!(runs[1].record.pointer("/load").is_none_or(serde_json::Value::is_null), "it was loaded already");
}

fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    command
}

#[test]
fn agents_are_started_by_ssh_and_leave_nothing_there() {
    let Some(place) = Place::new("agents by ssh", "", TRUST) else { return };
    let keys = tempfile::tempdir().unwrap();
    let Some(sshd) = Sshd::start(keys.path(), "") else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/ssh/agents.sh");
    let mut start = command(script.to_str().unwrap(), &[&place.target(), &place.target(), "127.0.0.1", "127.0.0.1"]);
    start.env("PGDYNO", env!("CARGO_BIN_EXE_pgdyno")).env("SSH_OPTIONS", &sshd.options);
    let agents = Running::new(start);
    let target = place.target();
    let args = ["run", "select-only", "-s", "1", "-c", "4", "-j", "2", "-t", "20", "-q", "--target", &target];
    place.home.run(&[&args[..], &["--meet", &target, "--agents", "2"]].concat()).ok();
    let drivers = place.home.the_run();
    assert_eq!(drivers.at("/drivers").as_array().map(Vec::len), Some(2));
    // They serve one run, and the copies of the program are gone.
    let ended = agents.end().ok();
    assert!(ended.stderr.matches("released").count() == 2, "{}", ended.stderr);
    let left = processes()
        .into_iter()
        .filter(|process| process.args.contains("agent --meet") && process.args.contains(&target));
    assert_eq!(left.map(|process| process.args).collect::<Vec<_>>(), Vec::<String>::new());
}

/// Returns a home's command whose `ssh` uses these options.
fn with_ssh(place: &Place, sshd: &Sshd, args: &[&str]) -> Command {
    let bin = place.home.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let found = std::env::var("PATH").unwrap();
    let script = format!("#!/bin/sh\nPATH='{found}' exec ssh {} \"$@\"\n", sshd.options);
    // Written by another process: what another test starts at this moment would inherit an open file of ours.
    let written =
        finish(command("sh", &["-c", &format!("cat >'{0}/ssh' <<'E'\n{script}E\nchmod 755 '{0}/ssh'", bin.display())]));
    written.ok();
    let mut command = place.home.command(args);
    command.env("PATH", format!("{}:{found}", bin.display()));
    command
}

/// The agents of a place that are there.
fn agents_of(place: &Place) -> Vec<String> {
    let directory = place.server.dir().display().to_string();
    let own = processes().into_iter().map(|process| process.args);
    own.filter(|args| args.contains("agent --meet") && args.contains(&directory)).collect()
}

#[test]
fn a_run_starts_its_agents_by_ssh_and_takes_them_away() {
    let Some(place) = Place::new("a run that starts agents", "", TRUST) else { return };
    let keys = tempfile::tempdir().unwrap();
    let (installed, path) = (keys.path().join("bin"), std::env::var("PATH").unwrap());
    std::fs::create_dir(&installed).unwrap();
    let path = format!("SetEnv PATH={}:{path}\n", installed.display());
    let Some(sshd) = Sshd::start(keys.path(), &path) else { return };
    let target = place.target();
    // One that waits there already is not meant.
    let mut waiting = agents(&place, 1, &[]);
    let shared = ["--target", &target, "--meet", &target, "--agents", "ssh:127.0.0.1,localhost"];
    let args = ["run", "select-only", "-s", "1", "-c", "4", "-j", "2", "-t", "20", "-q"];
    finish(with_ssh(&place, &sshd, &[&args[..], &shared].concat())).ok();
    let run = place.home.the_run();
    let processes_of: Vec<_> =
        run.at("/drivers").as_array().unwrap().iter().map(|driver| driver["pid"].clone()).collect();
    assert_eq!(processes_of.len(), 2);
    eventually("only the one that was there is left", PATIENCE, || agents_of(&place).len() == 1);
    // From here on the machines have the program: a copy of it is a hundred megabytes.
    let program = installed.join("pgdyno");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pgdyno"), &program).unwrap();
    let again = ["run", "--again", "last", "-q"];
    finish(with_ssh(&place, &sshd, &[&again[..], &shared].concat())).ok();
    let twice = place.home.runs();
    assert_eq!(twice[0].text("/plan_hash"), twice[1].text("/plan_hash"));
    let loaded = ["load", "tpcb-like", "-s", "2", "--replace"];
    finish(with_ssh(&place, &sshd, &[&loaded[..], &shared].concat()))
        .ok()
        .says(&[&format!("starting an agent on localhost: {}", program.display())]);
    eventually("only that one is left", PATIENCE, || agents_of(&place).len() == 1);

    // An agent that is killed leaves nothing running on other machines.
    let long = ["run", "tpcb-like", "-c", "4", "-j", "2", "-R", "40", "-T", "60", "--ramp", "0", "--no-check"];
    let mut killed = Running::new(with_ssh(&place, &sshd, &[&long[..], &shared].concat()));
    killed.until_it_says("progress: 2.0 s", 1);
    assert!(agents_of(&place).iter().filter(|args| args.contains("--reserved")).count() >= 2);
    killed.signal(Signal::KILL);
    drop(killed);
    eventually("the agents end", PATIENCE, || agents_of(&place).len() == 1);

    let refused = |machine: &str| {
        finish(with_ssh(
            &place,
            &sshd,
            &[&args[..], &["--target", &target, "--meet", &target, "--agents", machine]].concat(),
        ))
    };
    refused("ssh:no.such.machine.invalid")
        .ended(1)
        .says(&["failed to reach no.such.machine.invalid by ssh", "`ssh no.such.machine.invalid true`"]);
    refused("ssh:-oProxyCommand=x").ended(1).says(&["ssh:driver1,driver2"]);
    waiting.iter_mut().for_each(|agent| agent.signal(Signal::TERM));
}

#[test]
fn agents_of_a_run_load_what_it_finds_missing() {
    let Some(place) = Place::new("a run that loads with agents", "", TRUST) else { return };
    let target = place.target();
    for name in ["alone", "shared"] {
        place.server.admin().execute(&format!("CREATE DATABASE {name}")).unwrap();
    }
    let run = |name: &str, more: &[&str]| {
        let target = target.replace("dbname=postgres", &format!("dbname={name}"));
        let args = [
            "run",
            "tproc-c",
            "-c",
            "2",
            "-j",
            "2",
            "-t",
            "5",
            "--loaders",
            "1",
            "--random-seed",
            "3",
            "--target",
            &target,
        ];
        place.home.run(&[&args[..], more].concat()).ok()
    };
    run("alone", &["--no-check"]);
    let _waiting = agents(&place, 2, &["--allow-target", &target.replace("dbname=postgres", "dbname=shared")]);
    // The warehouses follow from the clients, here and there.
    run("shared", &["--meet", &target, "--agents", "2"]).says(&["has loaded", "rows"]);
    let loaded = |name: &str| {
        let target = target.replace("dbname=postgres", &format!("dbname={name}"));
        let mut admin = pgdyno_net::Admin::connect(&place.server.resolve(&target)).unwrap();
        let items = "SELECT count(*) || ' ' || sum(hashtext(t::text)::bigint) FROM item t";
        (admin.query_one(items).unwrap(), admin.query_one("SELECT count(*) FROM warehouse").unwrap())
    };
    assert_eq!(loaded("shared"), loaded("alone"));
    let runs = place.home.runs();
    assert_eq!(runs[1].text("/status"), "complete");
    let rows = |run: &crate::program::Run| -> Vec<(String, u64)> {
        let tables = run.at("/load/tables").as_array().unwrap();
        tables.iter().map(|t| (t["name"].as_str().unwrap().to_owned(), t["rows"].as_u64().unwrap())).collect()
    };
    assert_eq!(rows(&runs[1]), rows(&runs[0]));
}

#[test]
fn an_agent_that_sees_another_server_is_refused_before_anything_is_written() {
    let Some(place) = Place::new("an agent of another server", "", TRUST) else { return };
    let other = crate::server::TestServer::start("", TRUST);
    let elsewhere = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", other.port);
    let target = place.target();
    let _agents = agents(&place, 1, &["--target", &elsewhere]);
    for command in ["run", "load"] {
        let args = [command, "select-only", "-s", "1", "--target", &target, "--meet", &target, "--agents", "1"];
        let refused = place.home.run(&args).ended(1);
        refused.says(&["agent 1 on", "sees another server: system identifier", "give that agent its own --target"]);
    }
    assert_eq!(place.home.runs().len(), 0);
    for server in [&place.server, &other] {
        assert_eq!(server.admin().query_one("SELECT to_regclass('pgbench_accounts') IS NULL").unwrap(), "t");
    }
}

#[test]
fn loaders_that_are_killed_at_random_leave_what_one_undisturbed_load_leaves() {
    let Some(place) = Place::new("loads by agents that are killed", "", TRUST) else { return };
    let rounds = std::env::var("PGDYNO_TEST_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(3_u64);
    let mut random = pgdyno_testing::random::Random::new();
    let meet = place.target();
    place.server.admin().execute("CREATE DATABASE alone").unwrap();
    place.server.admin().execute("CREATE DATABASE shared").unwrap();
    let target = |name: &str| meet.replace("dbname=postgres", &format!("dbname={name}"));
    let digest = |name: &str| {
        let mut admin = pgdyno_net::Admin::connect(&place.server.resolve(&target(name))).unwrap();
        ["pgbench_accounts", "pgbench_tellers", "pgbench_branches"].map(|table| {
            let sql = format!("SELECT count(*) || ' ' || sum(hashtext(t::text)::bigint) FROM {table} t");
            admin.query_one(&sql).unwrap()
        })
    };
    let load = |name: &str, more: &[&str]| {
        place
            .home
            .start(&[&["load", "tpcb-like", "-s", "6", "--loaders", "1", "--target", &target(name)], more].concat())
    };
    load("alone", &[]).end().ok();
    for round in 1..=rounds {
        let mut admin = place.server.admin();
        admin.execute("DROP DATABASE shared WITH (FORCE)").unwrap();
        admin.execute("CREATE DATABASE shared").unwrap();
        let mut waiting = agents(&place, 2, &["--allow-target", &target("shared")]);
        let mut loading = load("shared", &["--meet", &meet, "--agents", "2"]);
        waiting[0].until_it_says("helps to load", 1);
        std::thread::sleep(Duration::from_millis(random.below(700)));
        // Two agents and their coordinator: one of the three is killed, somewhere on the way.
        match random.below(3) as usize {
            2 => {
                loading.signal(Signal::KILL);
                drop(loading);
                // The same command goes on, unless all was loaded before the kill.
                loading = load("shared", &[]);
            }
            agent => drop(waiting.remove(agent)),
        }
        let loaded = loading.end();
        if !loaded.stderr.contains("already; --replace") {
            loaded.ok();
        }
        assert_eq!(digest("shared"), digest("alone"), "round {round}");
        drop(waiting);
        // The meeting takes those that were killed for present as long as they may be.
        admin.execute("DELETE FROM pgdyno_meet.agents").unwrap();
    }
}
