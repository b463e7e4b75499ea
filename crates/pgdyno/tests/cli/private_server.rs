//! The whole life cycle on PostgreSQL servers that pgdyno starts by itself.
//!
//! Where the tests run as root, most of them run the program as an ordinary user: root's private servers share one
//! place, where a user's kept server may be.

use std::time::Duration;

use rustix::process::Signal;

use crate::program::{Home, Run, Running, descendants, eventually, processes};
use crate::server;

/// So soon after a kill nothing of the server may be left.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// A home for private servers, where one can be had without a download.
fn home(test: &str) -> Option<Home> {
    server::available(test).then(Home::of_an_ordinary_user)
}

#[test]
fn a_missing_table_is_answered_with_where_tables_come_from() {
    let Some(home) = home("private servers") else { return };
    std::fs::write(home.join("orders.sql"), "select * from orders;\n").unwrap();
    home.run(&["run", "orders.sql", "-c", "1", "-t", "1"])
        .says(&["hint for error 42P01: private servers start empty: use --target, or a directory with schema.sql"]);
}

#[test]
fn every_workload_lives_its_life_and_leaves_nothing_behind() {
    let Some(home) = home("private servers") else { return };
    for (args, size) in [
        ("tpcb-like", "2"),
        ("simple-update -s 1", "1"),
        ("select-only -s 1 -M simple", "1"),
        ("tproc-c -w 1", "1"),
        ("tpcb-like -t 50 --pipeline", "2"),
    ] {
        let mut all = vec!["run", "-c", "2"];
        all.extend(args.split(' '));
        if !args.contains("-t ") {
            all.extend(["-T", "1", "--ramp", "0"]);
        }
        let ran = home.run(&all).ok();
        let run = home.runs().pop().unwrap();
        assert_eq!((run.text("/status"), run.number("/summary/failed")), ("complete", 0.0));
        assert!(run.number("/summary/tps") > 0.0);
        assert_eq!(run.at("/plan/scale").to_string(), size);
        assert!(run.text("/server/version").starts_with("PostgreSQL "));
        assert!(run.text("/server/origin").starts_with("private, "));
        assert_eq!((run.text("/server/settings/fsync"), run.text("/server/settings/full_page_writes")), ("on", "on"));
        assert!(!run.at("/load/tables").as_array().unwrap().is_empty());
        let checks = run.checks_that_hold();
        assert_eq!((checks.first(), checks.last()), (Some(&"after the load"), Some(&"after the run")), "{args}");
        if args.starts_with("tproc-c") {
            assert!(run.number("/summary/nopm") > 0.0 && run.number("/summary/tpm") > 0.0);
            assert_eq!(run.at("/summary/new_orders_by_client"), run.at("/summary/new_orders_by_server"));
            let names: Vec<_> = run.at("/transactions").as_array().unwrap().iter().map(|t| &t["name"]).collect();
            assert_eq!(names, ["new-order", "payment", "order-status", "delivery", "stock-level"]);
            ran.prints(&["NOPM", "TPM", "counts match", "data checks passed"]);
        } else {
            ran.prints(&["TPS", "  open "]).says(&["loading ", "; creates "]);
        }
        if args.contains("-t 50") {
            assert_eq!(run.number("/summary/committed"), 100.0);
        }
        home.assert_clean();
    }
}

#[test]
fn root_has_a_private_server_too() {
    if !rustix::process::geteuid().is_root() {
        crate::skipped::skipped("a private server of root, as this is not root");
        return;
    }
    if !server::available("a private server of root") {
        return;
    }
    let home = Home::new();
    // TCP makes it a server of its own, even where root keeps one in its usual place.
    let order = "run select-only -s 1 -T 2 -R 100 --ramp 0 --tcp --set cluster_name=cli-test";
    let mut command = home.command(order.split(' '));
    command.env_remove("PGDYNO_CACHE");
    let mut running = Running::new(command);
    running.until_it_says("progress:", 1);
    let below: Vec<_> = descendants(running.pid()).iter().map(|p| p.pid).collect();
    assert!(below.len() > 5, "a supervisor, a postmaster and its processes: {below:?}");
    running.end().ok();
    assert!(processes().iter().all(|p| !below.contains(&p.pid)), "nothing of it is left");
    let run = home.the_run();
    assert_eq!((run.text("/status"), run.text("/server/settings/cluster_name")), ("complete", "cli-test"));
    let data = std::path::Path::new(run.text("/server/settings/data_directory"));
    assert!(data.starts_with("/var/cache/pgdyno/instances") && !data.parent().unwrap().exists(), "{data:?}");
}

#[test]
fn an_interrupted_run_ends_cleanly_and_one_interrupted_twice_at_once() {
    let Some(home) = home("Ctrl-C") else { return };
    for times in [1, 2] {
        let mut running =
            home.start(&["run", "tpcb-like", "-s", "1", "-c", "3", "-R", "200", "-T", "1h", "--ramp", "0"]);
        running.until_it_says("progress:", 2);
        running.signal(Signal::INT);
        if times == 2 {
            // Two signals of one kind at the same moment are one.
            running.until_it_says("press Ctrl-C again to force", 1);
            running.signal(Signal::TERM);
        }
        running.end().ended(130).prints(&["! interrupted", "TPS", "  open "]);
        home.assert_clean();
        let run = home.runs().pop().unwrap();
        assert_eq!((run.text("/status"), run.number("/exit_code")), ("interrupted", 130.0));
        assert!(run.number("/summary/committed") > 0.0);
        assert_eq!(run.number("/summary/committed") as u64, run.committed_by_intervals());
        // After the first Ctrl-C there is time to look at what the run left.
        if times == 1 {
            assert_eq!(run.checks_that_hold().last(), Some(&"after the run"));
        }
    }
}

#[test]
fn an_interrupted_load_ends_cleanly() {
    let Some(home) = home("Ctrl-C while loading") else { return };
    let mut running = home.start(&["run", "tproc-c", "-w", "40", "-T", "1", "-v"]);
    running.until_it_says("load: rows", 1);
    running.signal(Signal::INT);
    running.end().ended(130).says(&["interrupted"]);
    home.assert_clean();
    assert_eq!(home.the_run().text("/status"), "interrupted");
}

#[test]
fn a_killed_run_leaves_no_server_and_keeps_its_intervals() {
    let Some(home) = home("kill -9") else { return };
    let mut running = home.start(&["run", "simple-update", "-s", "1", "-R", "200", "-T", "1h", "--ramp", "0"]);
    running.until_it_says("progress:", 2);
    assert!(!home.instances().is_empty());
    running.signal(Signal::KILL);
    drop(running);
    eventually("its processes are gone", GONE_WITHIN, || home.processes().is_empty());
    eventually("its directories are gone", GONE_WITHIN, || home.instances().is_empty());
    let run = home.the_run();
    assert_eq!(run.text("/status"), "interrupted");
    assert!(run.committed_by_intervals() > 0);
    // The next one starts.
    home.run(&["run", "select-only", "-s", "1", "-t", "10", "-q"]).ok();
    home.assert_clean();
}

#[test]
fn two_runs_side_by_side_have_a_server_each() {
    let Some(home) = home("two private servers") else { return };
    let args = ["run", "select-only", "-s", "1", "-R", "200", "-T", "2", "--ramp", "0"];
    let running = [home.start(&args), home.start(&args)];
    for run in running {
        run.end().ok();
    }
    let runs = home.runs();
    let place = |run: &Run| run.text("/server/settings/data_directory").to_owned();
    assert_eq!(runs.len(), 2);
    assert_ne!(place(&runs[0]), place(&runs[1]));
    home.assert_clean();
}

#[test]
fn a_setting_that_postgres_refuses_is_reported_in_its_words() {
    let Some(home) = home("refused settings") else { return };
    let ran = home.run(&["run", "--set", "shared_buffers=lots"]).ended(10);
    assert!(ran.stderr.lines().count() < 12, "no more than helps: {}", ran.stderr);
    ran.says(&["shared_buffers", "lots"]);
    home.assert_clean();
}

#[test]
fn by_tcp_it_asks_for_a_password_that_nobody_sees() {
    let Some(home) = home("TCP") else { return };
    let mut running = home.start(&["run", "select-only", "-s", "1", "-R", "200", "-T", "2", "--ramp", "0", "--tcp"]);
    running.until_it_says("progress:", 1);
    for process in descendants(running.pid()) {
        assert!(!process.args.to_lowercase().contains("password"), "{}", process.args);
    }
    running.end().ok();
    assert_eq!(home.the_run().text("/server/settings/listen_addresses"), "127.0.0.1");
    home.assert_clean();
}

#[test]
fn a_kept_server_is_used_until_it_is_stopped() {
    let Some(home) = home("the kept server") else { return };
    home.run(&["server", "status"]).ok().prints(&["not running", "pgdyno server start"]);
    home.run(&["server", "stop"]).ended(10).says(&["no private server is running", "pgdyno server start"]);
    let kept = Kept::start(&home);
    home.run(&["server", "start"]).ended(10).says(&["is already running", "pgdyno server stop"]);
    home.run(&["server", "status"]).ok().prints(&["PostgreSQL ", "psql -h ", "process "]);

    // The first run loads, the second one does not, and another size is not passed over.
    fn short<'a>(args: &[&'a str]) -> Vec<&'a str> {
        [&["run", "-c", "2", "-t", "20", "-q"][..], args].concat()
    }
    home.run(&short(&["tproc-c", "-w", "1"])).ok();
    let first = home.runs().pop().unwrap();
    assert!(first.text("/server/origin").starts_with("private and kept, "));
    assert!(first.record.get("load").is_some());
    home.run(&short(&["tproc-c"])).ok();
    let second = home.runs().pop().unwrap();
    assert!(second.record.get("load").is_none());
    assert_eq!(second.number("/plan/scale"), 1.0, "what is loaded decides");
    assert_eq!(second.checks_that_hold(), ["before the run", "after the run"]);
    let refusal = &["holds data of 1 warehouse; you asked for 2 warehouses", "--replace", "pgdyno drop tproc-c"];
    home.run(&short(&["tproc-c", "-w", "2"])).ended(11).says(refusal);
    home.run(&short(&["tproc-c", "-w", "2", "--no-load"])).ended(11).says(refusal);
    home.run(&short(&["tproc-c", "-w", "2", "--replace"])).ok();
    assert_eq!(home.runs().pop().unwrap().number("/plan/scale"), 2.0);
    home.run(&short(&["tpcb-like", "--no-load"])).ended(11).says(&["no data of tpcb-like", "pgdyno load tpcb-like"]);

    // Single steps.
    home.run(&["check", "tpcb-like"]).ended(1).says(&["holds no data of tpcb-like", "pgdyno load tpcb-like"]);
    home.run(&["load", "tpcb-like", "-s", "1"]).ok().prints(&["holds  rows of pgbench_accounts", "count(*) = 100000"]);
    home.run(&["load", "tpcb-like", "-s", "1"]).ended(11).says(&["the database holds", "--replace"]);
    home.run(&["load", "tpcb-like", "-s", "2", "--replace"]).ok();
    home.run(&["check", "tpcb-like"]).ok().prints(&["noted", "accounts_minus_history=0"]);
    home.run(&["check", "tproc-c"]).ok().prints(&["holds  3.3.2.1 ", "holds  3.3.2.12 "]);
    home.run(&short(&["select-only", "--no-load"])).ok();
    assert_eq!(home.runs().pop().unwrap().number("/plan/scale"), 2.0, "it is the data of all pgbench workloads");
    home.run(&["drop", "tproc-c"]).ok().prints(&["dropped table ", "table warehouse", "pgdyno_new_order("]);
    home.run(&["drop", "tproc-c"]).ok().prints(&["nothing to drop"]);
    home.run(&["check", "tproc-c"]).ended(1).says(&["holds no data of tproc-c"]);

    // Stopped and started again it has its data still.
    home.run(&["server", "stop", "--keep-data"]).ok().prints(&["its data is kept"]);
    home.run(&["server", "status"]).ok().prints(&["not running", "of its data is kept"]);
    home.run(&["check", "tpcb-like"]).ended(1).says(&["pgdyno server start"]);
    home.run(&["server", "start"]).ok();
    home.run(&["check", "tpcb-like"]).ok();
    drop(kept);
    home.run(&["server", "status"]).ok().prints(&["not running; `pgdyno server start`"]);
    home.assert_clean();
}

/// The kept server of a home; stopped with its value, also when the test fails.
struct Kept<'a>(&'a Home);

impl<'a> Kept<'a> {
    fn start(home: &'a Home) -> Self {
        let ran = home.run(&["server", "start"]).ok();
        ran.prints(&["PostgreSQL ", "psql -h ", "shared_buffers = ", "fsync = on"]);
        Self(home)
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.0.run(&["server", "stop"]);
    }
}
