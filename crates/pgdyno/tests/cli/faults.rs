//! Faults that a run causes, on private servers and by programs of the user; and what the record says of them.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::program::{Home, Run, Running, eventually};
use crate::server;

/// A home for private servers, where one can be had without a download.
fn home(test: &str) -> Option<Home> {
    server::available(test).then(Home::of_an_ordinary_user)
}

/// Writes a program of the user.
fn program(home: &Home, name: &str, text: &str) -> String {
    let path = home.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The only fault of a run.
#[track_caller]
fn the_fault(run: &Run) -> &Value {
    let faults = run.at("/faults").as_array().unwrap();
    assert_eq!(faults.len(), 1, "{faults:?}");
    &faults[0]
}

/// The transactions that were committed in intervals that ended before a time of the run, and in those that began after one.
fn commits(run: &Run, before_s: f64, after_s: f64) -> [u64; 2] {
    let rows = run.intervals();
    let number = |row: &std::collections::BTreeMap<String, String>, name: &str| row[name].parse::<f64>().unwrap();
    let sum = |is_in: &dyn Fn(f64, f64) -> bool| {
        let rows = rows.iter().filter(|row| is_in(number(row, "start_s"), number(row, "end_s")));
        rows.map(|row| row["committed"].parse::<u64>().unwrap()).sum()
    };
    [sum(&|_, end_s| end_s <= before_s), sum(&|start_s, _| start_s >= after_s)]
}

/// The run is complete, its clients committed before and after the fault, and it marks the fault.
#[track_caller]
fn assert_survived(run: &Run, clients: u64) {
    let fault = the_fault(run);
    assert_eq!((run.text("/status"), fault["outcome"].as_str().unwrap()), ("complete", "done"), "{fault}");
    let (began_s, back_s) = (fault["began_s"].as_f64().unwrap(), fault["available_s"].as_f64().unwrap());
    assert!(began_s >= fault["at_s"].as_f64().unwrap() && back_s > began_s, "{fault}");
    assert!(fault["connections_lost"].as_u64().unwrap() >= clients, "{fault}");
    let summary = ["/summary/connections_lost", "/summary/reconnected"].map(|count| run.at(count).as_u64().unwrap());
    assert!(summary[0] >= clients && summary[1] >= clients, "{summary:?}");
    let [before, after] = commits(run, began_s, back_s);
    assert!(before > 0 && after > 0, "{before} {after}: {fault}");
    let events = run.at("/events").as_array().unwrap();
    assert!(events.iter().any(|event| event["kind"] == "fault" && event["from_s"] == fault["began_s"]), "{events:?}");
}

/// Runs a fault on a private server, which leaves nothing behind.
fn on_private_server(home: &Home, kind: &str) -> Run {
    let args = format!("run tpcb-like -s 1 -c 3 -T 10 -R 100 --ramp 0 --fault {kind} --fault-at 2s --target embedded");
    let ran = home.run(&args.split(' ').collect::<Vec<_>>()).ok();
    ran.prints(&[&format!("FAULT   {kind} at 2"), "connections lost", "a new session could write after"]);
    home.assert_clean();
    home.runs().pop().unwrap()
}

#[test]
fn clients_outlast_each_fault_of_a_private_server() {
    let Some(home) = home("faults of a private server") else { return };
    for (kind, is_new_server) in
        [("kill-9", true), ("restart", true), ("restart-immediate", true), ("crash-backend", false)]
    {
        let run = on_private_server(&home, kind);
        assert_survived(&run, 3);
        let fault = the_fault(&run);
        let started = ["server_before", "server_after"].map(|server| fault[server]["started"].as_str().unwrap());
        assert_eq!(started[0] != started[1], is_new_server, "{kind}: {fault}");
        assert_eq!(run.at("/plan/reconnect_s"), 60.0, "{kind}");
    }
    let page = home.run(&["report", "last", "--format", "html", "-o", "-"]).ok().stdout;
    assert!(page.contains("fault crash-backend"), "the page has no mark");
}

#[test]
fn clients_go_on_at_the_promoted_standby() {
    let Some(home) = home("a promotion") else { return };
    for target in ["embedded:ha", "embedded:ha,sync"] {
        let args =
            format!("run tpcb-like -s 1 -c 3 -T 15 -R 100 --ramp 0 --fault promote --fault-at 2s --target {target}");
        let ran = home.run(&args.split(' ').collect::<Vec<_>>()).ok();
        ran.prints(&["FAULT   promote at 2", "timeline 2 after 1"]);
        let run = home.runs().pop().unwrap();
        assert_survived(&run, 3);
        let fault = the_fault(&run);
        let of = |server: &str, field: &str| fault[server][field].clone();
        assert_eq!([of("server_before", "timeline"), of("server_after", "timeline")], [1, 2].map(Value::from));
        assert_ne!(of("server_before", "address"), of("server_after", "address"), "{fault}");
        assert_eq!(run.checks_that_hold().last(), Some(&"after the run"));
        home.assert_clean();
    }
}

#[test]
fn a_server_that_loses_its_power_goes_on_with_what_was_synced() {
    if pgdyno_server::power_loss_missing().is_some() {
        crate::skipped::skipped("a loss of power, as there is no C compiler");
        return;
    }
    let Some(home) = home("a loss of power") else { return };
    let run = on_private_server(&home, "power-loss");
    assert_survived(&run, 3);
    assert_eq!(run.at("/server/settings/wal_sync_method"), "fdatasync");
    let args = "run tproc-c -w 1 -c 3 -T 12 -R 200 --ramp 0 --fault power-loss --fault-at 4s --target embedded --set fsync=off";
    home.run(&args.split(' ').collect::<Vec<_>>()).ended(2);
    let run = home.runs().pop().unwrap();
    let counted = ["/summary/new_orders_by_client", "/summary/new_orders_by_server"].map(|count| run.number(count));
    assert!(counted[0] > counted[1] && the_fault(&run)["outcome"] == "done", "{counted:?}");
    assert!(
        run.text("/reason").contains("the fault cost transactions that were acknowledged"),
        "{}",
        run.text("/reason")
    );
    home.assert_clean();
    let args =
        "run select-only -s 1 --fault power-loss --fault-at 2s --target embedded --set wal_sync_method=open_datasync";
    home.run(&args.split(' ').collect::<Vec<_>>()).ended(1).says(&["it sees only what fdatasync syncs"]);
}

#[test]
fn what_can_be_caused_on_a_target_is_listed() {
    let home = Home::new();
    let of = |target: &str| {
        let listed = home.run(&["fault", "list", "--target", target, "--format", "json"]).ok();
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        let possible = |fault: &&Value| fault["possible"] == true;
        let faults = listed["faults"].as_array().unwrap().iter();
        faults.filter(possible).map(|fault| fault["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let elsewhere = of("host=db1");
    assert!(elsewhere.ends_with(&["FILE".to_owned()]) && !elsewhere.contains(&"kill-9".to_owned()), "{elsewhere:?}");
    // A program on the PATH says nothing about what it can reach.
    assert!(!elsewhere.iter().any(|name| name.contains(":failover") || name.contains("switchover")), "{elsewhere:?}");
    let private = of("embedded");
    assert!(private.starts_with(&["kill-9", "restart", "restart-immediate", "crash-backend"].map(str::to_owned)));
    assert!(!private.contains(&"promote".to_owned()) && of("embedded:ha").contains(&"promote".to_owned()));
    assert!(!private.iter().any(|name| name.contains(':')), "a private server is part of no cluster: {private:?}");
    home.run(&["fault", "list", "--target", "host=db1"]).ok().prints(&[
        "on host=db1",
        "azure-flexible:failover:GROUP:SERVER",
        "run `aws rds reboot-db-instance --db-instance-identifier INSTANCE",
        "kill-9",
        "Not there: pgdyno does this only to a server that the run itself starts; give --target embedded",
    ]);
    std::fs::create_dir(home.join("bin")).unwrap();
    program(&home, "bin/aws", "exit 1");
    let with_aws = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("PATH", home.join("bin"));
        Running::new(command).end().ok()
    };
    let args = ["fault", "list", "--target", "host=db1"];
    with_aws(&args).prints(&[
        "Not known: pgdyno cannot check whether aws can fail over the server of this",
        "needs the AWS CLI with credentials and a region",
        "Not there: patronictl is not on the PATH",
    ]);
    let listed: Value = serde_json::from_str(&with_aws(&[&args[..], &["--format", "json"]].concat()).stdout).unwrap();
    let rds =
        listed["faults"].as_array().unwrap().iter().find(|fault| fault["name"] == "rds:failover:INSTANCE").unwrap();
    assert_eq!(
        (&rds["possible"], rds["missing"].is_null(), rds["unknown"].is_string()),
        (&false.into(), true, true),
        "{rds}"
    );
}

#[test]
fn several_faults_in_a_row_are_made_again_from_the_record() {
    let Some(home) = home("several faults") else { return };
    let args = "run select-only -s 1 -c 2 -R 50 -T 18 --ramp 0 --fault restart-immediate --fault-at 1s --fault-every 8s --repeat 2 -q";
    home.run(&args.split(' ').collect::<Vec<_>>()).ok();
    home.run(&["run", "--again", "last", "-q"]).ok();
    for run in home.runs() {
        let faults = run.at("/faults").as_array().unwrap();
        assert_eq!(faults.iter().map(|fault| fault["at_s"].as_f64().unwrap()).collect::<Vec<_>>(), [1.0, 9.0]);
        assert!(faults.iter().all(|fault| fault["outcome"] == "done"), "{faults:?}");
    }
    home.assert_clean();
}

#[test]
fn a_program_of_the_user_causes_a_fault_of_any_server() {
    let Some(place) = Place::new("a program that causes a fault", "", TRUST) else { return };
    let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid() \
               and backend_type = 'client backend'";
    let psql = server::command("psql").get_program().to_string_lossy().into_owned();
    let text = format!("echo run in $PGDYNO_RUN_DIR on $PGDYNO_TARGET; {psql} -XAtc \"{sql}\"");
    let file = program(&place.home, "terminate.sh", &text);
    let args = format!("run select-only -s 1 -c 2 -R 500 -T 4 --ramp 0 --fault {file} --fault-at 1s");
    place.run(&args).ok().prints(&["FAULT", "connections lost"]);
    let run = place.home.the_run();
    assert_survived(&run, 2);
    let fault = the_fault(&run);
    assert_eq!((fault["exit_code"].as_i64(), fault["kind"].as_str()), (Some(0), Some(file.as_str())));
    let output = std::fs::read_to_string(run.path.join(fault["output"].as_str().unwrap())).unwrap();
    let directory = run.path.canonicalize().unwrap();
    assert!(output.contains(&format!("run in {} on host=", directory.display())), "{output}");
}

#[test]
fn a_failover_is_ordered_by_the_program_of_the_cluster() {
    let Some(place) = Place::new("a failover by another program", "", TRUST) else { return };
    let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid() \
               and backend_type = 'client backend'";
    let psql = server::command("psql").get_program().to_string_lossy().into_owned();
    let text = format!("echo \"$0 $*\"; [ -z \"$PGPASSWORD\" ] && {psql} -XAtc \"{sql}\"");
    std::fs::create_dir(place.home.join("bin")).unwrap();
    program(&place.home, "bin/aws", &text);
    let path = format!("{}:{}", place.home.join("bin").display(), std::env::var("PATH").unwrap());
    let start = |command: &str, fault: &str| {
        let args = format!("{command} select-only -s 1 -c 2 -R 500 -T 4 --ramp 0 --fault {fault} --fault-at 1s");
        let target = place.target();
        let mut command = place.home.command(args.split(' ').chain(["--target", &target]));
        command.env("PATH", &path).env("PGPASSWORD", "secret");
        Running::new(command).end()
    };
    let argv = "aws rds reboot-db-instance --db-instance-identifier db-1 --force-failover";
    start("plan", "rds:failover:db-1").ok().prints(&[&format!("rds:failover:db-1: run `{argv}`")]);
    start("run", "rds:failover:db-1").ok().prints(&["FAULT   rds:failover:db-1 at 1", "connections lost"]);
    let run = place.home.the_run();
    // The server is the one that was there before: it is not known to have moved.
    let fault = the_fault(&run);
    assert!(fault["ended_s"].is_number() && fault.get("available_s").is_none(), "{fault}");
    let output = std::fs::read_to_string(run.path.join("fault.log")).unwrap();
    assert!(output.lines().next().unwrap().ends_with(argv), "{output}");
    for (fault, words) in [
        ("rds:failover", "rds:failover needs names after it, as in rds:failover:INSTANCE"),
        ("rds:failover:--output", "needs names after it"),
        ("pg_auto_failover:failover", "pg_autoctl is not on the PATH"),
    ] {
        let refused = start("run", fault);
        assert!(refused.code != Some(0), "{fault}");
        refused.says(&[words]);
    }
    assert_eq!(place.home.runs().len(), 1);
}

#[test]
fn each_run_of_a_suite_has_its_fault() {
    let Some(home) = home("a suite with faults") else { return };
    let suite = "name = 'faults'\ntargets = ['embedded']\n[[run]]\nwhat = 'select-only'\nscale = 1\nclients = 2\nrate = 50\ntime = '12s'\n\
                 ramp = '0s'\nfault_at = '1s'\nmatrix.fault = ['kill-9', 'restart']\n";
    std::fs::write(home.join("suite.toml"), suite).unwrap();
    home.run(&["suite", "run", "suite.toml"]).ok();
    let runs = home.runs();
    assert_eq!(
        runs.iter().map(|run| the_fault(run)["kind"].as_str().unwrap()).collect::<Vec<_>>(),
        ["kill-9", "restart"]
    );
    runs.iter().for_each(|run| assert_survived(run, 2));
    home.assert_clean();
}

#[test]
fn a_fault_that_nobody_notices_does_not_count_and_one_that_fails_is_reported() {
    let Some(place) = Place::new("faults without effect", "", TRUST) else { return };
    let run = |text: &str| {
        let file = program(&place.home, "fault.sh", text);
        place.run(&format!("run select-only -s 1 -c 2 -R 500 -T 2 --ramp 0 --fault {file} --fault-at 0.5s"))
    };
    let ran = run("true").ok();
    ran.prints(&["had no effect: this run measured no fault", "TRUST   poor"]);
    let record = place.home.runs().pop().unwrap();
    assert_eq!(the_fault(&record)["outcome"], "no-effect");
    let warnings = record.at("/warning_details").as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["kind"] == "fault-without-effect"), "{warnings:?}");
    let ran = run("echo no such cluster >&2; exit 3").ended(13);
    ran.prints(&["failed: its program failed (exit status: 3)"]);
    let record = place.home.runs().pop().unwrap();
    let fault = the_fault(&record);
    assert_eq!((fault["outcome"].as_str(), fault["exit_code"].as_i64()), (Some("failed"), Some(3)));
    assert_eq!(std::fs::read_to_string(record.path.join("fault.log")).unwrap(), "no such cluster\n");
    // One that never ends is ended with the run.
    let ran = run("exec sleep 600").ended(13);
    ran.prints(&["its program had not ended when the run ended"]);
    assert_eq!(place.home.processes(), Vec::<String>::new());
}

#[test]
fn ctrl_c_ends_a_program_and_the_run() {
    let Some(place) = Place::new("Ctrl-C during a fault", "", TRUST) else { return };
    let began = place.home.join("began");
    let file = program(&place.home, "slow.sh", &format!("touch {}; sleep 600", began.display()));
    let running = place.start(&format!("run select-only -s 1 -c 2 -T 300 --ramp 0 --fault {file} --fault-at 0.1s"));
    eventually("the program runs", Duration::from_secs(60), || began.exists());
    running.signal(Signal::INT);
    running.end().ended(130);
    let run = place.home.the_run();
    let fault = the_fault(&run);
    assert_eq!((run.text("/status"), fault["outcome"].as_str().unwrap()), ("interrupted", "interrupted"));
    assert_eq!(place.home.processes(), Vec::<String>::new());
}

#[test]
fn ctrl_c_during_a_fault_of_a_private_server_leaves_nothing() {
    let Some(home) = home("Ctrl-C during a fault of a private server") else { return };
    let args = "run select-only -s 1 -c 2 -T 300 --ramp 0 --fault kill-9 --fault-at 0.1s --target embedded";
    let mut running = home.start(&args.split(' ').collect::<Vec<_>>());
    running.until_it_says("fault kill-9", 1);
    running.signal(Signal::INT);
    running.end().ended(130);
    home.assert_clean();
}

#[test]
fn studies_of_steady_states_refuse_a_fault_and_name_what_to_run_instead() {
    let Some(place) = Place::new("faults in studies", "", TRUST) else { return };
    for (args, words) in [
        ("ab select-only -s 1 --b work_mem=8MB", ["an experiment", "pgdyno compare"]),
        ("search select-only -s 1 --slo p95<50ms", ["a search", "pgdyno run with -R RATE and --fault"]),
        ("frontier ch-benchmark -w 1", ["a frontier", "with -R and --streams of a point"]),
    ] {
        let refused = format!("{} compares steady states, and takes no --fault /bin/true", words[0]);
        place.run(&format!("{args} --fault /bin/true")).ended(1).says(&[&refused, "hint: ", words[1]]);
    }
    assert_eq!(place.ask("select count(*) from pg_class where relname like 'pgbench%'"), "0");
}

#[test]
fn what_is_impossible_is_refused_before_anything_is_loaded() {
    let Some(place) = Place::new("faults that are impossible", "", TRUST) else { return };
    for (args, words) in [
        ("--fault kill-9 --fault-at 1s", "pgdyno does this only to a server that the run itself starts"),
        ("--fault power-loss --fault-at 1s", "pgdyno does this only to a server that the run itself starts"),
        ("--fault kill9 --fault-at 1s", "'kill9' is no fault: write kill-9, restart, "),
        ("--fault ./missing.sh --fault-at 1s", "No such file or directory"),
        ("--fault /etc/passwd --fault-at 1s", "it is not executable"),
        ("--fault /bin/true --fault-at 9s", "a fault at 9 s comes after the measured window of 5 s"),
        ("--fault /bin/true --fault-at 1s --fault-every 2s --repeat 3", "a fault at 5 s comes after"),
        ("--repeat 3", "--repeat counts faults (--fault-every) or sets of queries (tproc-h, tproc-ds)"),
    ] {
        let ran = place.run(&format!("run tpcb-like -s 1 -c 1 -T 5 {args}"));
        assert!(ran.code != Some(0), "{args}");
        ran.says(&[words]);
    }
    assert_eq!(place.ask("select count(*) from pg_class where relname like 'pgbench%'"), "0");
    place.home.run(&["run", "noop", "--fault", "/bin/true", "--fault-at", "1s"]).says(&["there is no PostgreSQL"]);
}
