//! Transactions that meet each other at stricter isolation levels.

use crate::given_server::{Place, TRUST};
use crate::program::Run;

/// Retries were counted, failures are at most one in a hundred, and what was checked holds. What each client was still
/// trying when the window ended may have failed, too.
#[track_caller]
fn assert_retried(run: &Run, level: &str) {
    assert_eq!(run.text("/server/settings/default_transaction_isolation"), level);
    let (committed, failed) = (run.number("/summary/committed"), run.number("/summary/failed"));
    assert!(
        committed > 0.0 && failed <= committed / 100.0 + run.number("/plan/clients"),
        "{committed} committed, {failed} failed"
    );
    let (retried, retries) = (run.number("/summary/retried"), run.number("/summary/retries"));
    assert!(retried > 0.0 && retries >= retried, "{retried} retried, {retries} retries");
    assert_eq!(run.text("/status"), "complete");
    assert!(run.checks_that_hold().contains(&"after the run"));
}

#[test]
fn built_in_workloads_are_retried_at_stricter_levels() {
    let Some(place) = Place::new("retries of pgbench's workloads", "", TRUST) else { return };
    // Eight clients on one branch. The level comes from --set, then from the connection string, then from the role.
    place
        .run("run tpcb-like -s 1 -c 8 -T 500ms --ramp 0 --set default_transaction_isolation=serializable")
        .ok()
        .prints(&["serializable", "retried", "at most 1,000 tries each", "error 40001"]);
    let run = place.home.runs().pop().unwrap();
    assert_retried(&run, "serializable");
    assert_eq!(run.number("/plan/max_tries"), 1000.0);

    let target = format!("{} options='-c default_transaction_isolation=repeatable\\\\ read'", place.target());
    place.home.run(&["run", "tpcb-like", "-c", "8", "-T", "500ms", "--ramp", "0", "--target", &target]).ok();
    assert_retried(&place.home.runs().pop().unwrap(), "repeatable read");

    place.execute("alter role postgres set default_transaction_isolation = 'serializable'");
    // Of a hundred thousand accounts two clients seldom want the same one, but the server tracks reads by page.
    place.run("run simple-update -c 16 -T 2 --ramp 0").ok();
    let run = place.home.runs().pop().unwrap();
    assert_eq!(run.text("/server/settings/default_transaction_isolation"), "serializable");
    assert!(run.number("/summary/failed") <= run.number("/summary/committed") / 100.0);

    // Without retries they are failures, which are no error of the run.
    place.run("run tpcb-like -c 8 -T 500ms --ramp 0 --max-tries 1").ok().prints(&["failed (serialization)"]);
    let run = place.home.runs().pop().unwrap();
    let failed = run.number("/summary/failed_by_class/serialization");
    assert!(failed > 0.0 && failed == run.number("/summary/failed"));
    assert_eq!((run.text("/status"), run.number("/summary/retries")), ("complete", 0.0));
}

#[test]
fn tproc_c_is_retried_however_it_is_called() {
    let Some(place) = Place::with_warehouse("retries of tproc-c", "", TRUST) else { return };
    for (call, level_name) in
        [("procedure", "serializable"), ("function", "repeatable read"), ("client", "serializable")]
    {
        let target = place.target();
        let setting = format!("default_transaction_isolation={level_name}");
        let mut args = vec!["run", "tproc-c", "-c", "8", "-T", "1", "--ramp", "0", "--call", call];
        args.extend(["--set", &setting, "--target", &target]);
        place.home.run(&args).ok().prints(&["retried"]);
        assert_retried(&place.home.runs().pop().unwrap(), level_name);
    }
}

#[test]
fn scripts_of_the_user_are_tried_once_as_pgbench_does() {
    let Some(place) = Place::new("retries of scripts", "", TRUST) else { return };
    place.execute("create table one (n bigint); insert into one values (0)");
    std::fs::write(place.home.join("add.sql"), "update one set n = n + 1;\n").unwrap();
    let run = "run ./add.sql -c 8 -T 500ms --ramp 0 --set default_transaction_isolation=serializable";
    place.run(run).ok().prints(&["failed (serialization)"]);
    let once = place.home.runs().pop().unwrap();
    assert_eq!((once.number("/plan/max_tries"), once.number("/summary/retries")), (1.0, 0.0));
    place.run(&format!("{run} --max-tries 100")).ok().prints(&["retried"]);
    assert!(place.home.runs().pop().unwrap().number("/summary/retries") > 0.0);
}
