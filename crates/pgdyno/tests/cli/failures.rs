//! What goes wrong while a run goes: the server goes, clients hang, transactions meet each other.

use std::time::Duration;

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::program::eventually;

/// Backends of ours that are doing something.
const ACTIVE: &str = "select count(*) from pg_stat_activity where application_name = 'pgdyno' and state <> 'idle' and pid <> pg_backend_pid()";
/// A session of ours that does not end by itself is left in peace for so long.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_server_that_stops_ends_the_run_and_what_was_measured_stays() {
    let Some(mut place) = Place::new("a server that stops", "", TRUST) else { return };
    let mut running = place.start("run tpcb-like -s 1 -c 4 -R 200 -T 1h --ramp 0");
    running.until_it_says("progress:", 2);
    place.server.crash();
    running.end().ended(2).prints(&["! failed", "the server was lost", "--reconnect", "TPS", "  open "]);
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.number("/exit_code")), ("failed", 2.0));
    assert!(run.number("/summary/committed") > 0.0);
    assert_eq!(run.number("/summary/committed") as u64, run.committed_by_intervals());
    assert!(run.number("/summary/connections_lost") >= 1.0);
}

#[test]
fn a_run_that_reconnects_goes_on_when_the_server_is_back() {
    let Some(mut place) = Place::new("a server that comes back", "", TRUST) else { return };
    let mut running = place.start("run select-only -s 1 -c 4 -T 10 --ramp 0 -R 400 --reconnect 60s");
    running.until_it_says("progress:", 2);
    place.server.crash();
    place.server.restart();
    let ran = running.end();
    let run = place.home.the_run();
    assert_eq!(run.number("/summary/reconnected"), 4.0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(run.number("/summary/outage_s_max") > 0.0);
    let last = run.intervals().into_iter().rfind(|row| row["phase"] == "measure").unwrap();
    assert_ne!(last["committed"], "0", "it works to the end");
    ran.prints(&["reconnected", "longest outage"]);
}

#[test]
fn a_server_that_does_not_come_back_ends_a_run_that_reconnects() {
    let Some(mut place) = Place::new("a server that stays away", "", TRUST) else { return };
    let mut running = place.start("run select-only -s 1 -c 2 -R 200 -T 1h --ramp 0 --reconnect 1s");
    running.until_it_says("progress:", 1);
    place.server.crash();
    running.end().ended(2).prints(&["! failed", "the server was lost", "TPS"]);
}

#[test]
fn clients_that_are_thrown_out_are_an_error() {
    let Some(place) = Place::new("clients that are thrown out", "", TRUST) else { return };
    let mut running = place.start("run select-only -s 1 -c 4 -R 200 -T 4 --ramp 0");
    running.until_it_says("progress:", 1);
    place.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pgdyno' \
         and query like 'SELECT abalance%' order by pid limit 1",
    );
    let ran = running.end().ended(2);
    let run = place.home.the_run();
    assert!(["invalid", "failed"].contains(&run.text("/status")), "{}", ran.stdout);
    assert!(run.number("/summary/committed") > 0.0);
    assert!(ran.stdout.contains("terminating connection"), "{}", ran.stdout);
}

#[test]
fn clients_that_hang_are_cancelled() {
    let Some(place) = Place::new("clients that hang", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    for patient in [false, true] {
        let mut running = place.start("run tpcb-like -c 4 -R 200 -T 1h --ramp 0 -v");
        running.until_it_says("progress:", 1);
        let mut other = place.server.admin();
        other.execute("begin; lock table pgbench_accounts").unwrap();
        eventually("all clients wait", SOON, || place.ask(waiting) == "4");
        running.signal(Signal::INT);
        running.until_it_says("press Ctrl-C again to force", 1);
        if patient {
            // After some seconds they are cancelled, and the check that follows hangs in their place, on each of its
            // connections.
            running.until_it_says("checking the data after the run", 1);
            eventually("the check waits", SOON, || place.ask(waiting) != "0");
        }
        running.signal(Signal::INT);
        running.end().ended(130).prints(&["! interrupted", "cancelled at the end"]);
        let pid = other.query_one("select pg_backend_pid()").unwrap();
        let active = format!("{ACTIVE} and pid <> {pid}");
        eventually("nothing of ours is at work on the server", SOON, || place.ask(&active) == "0");
        other.execute("rollback").unwrap();
        let run = place.home.runs().pop().unwrap();
        assert_eq!(run.number("/summary/cancelled_in_flight"), 4.0);
    }
    place.run("run tpcb-like -c 2 -t 5").ok();
}

#[test]
fn long_statements_do_not_outlive_a_run() {
    let Some(place) = Place::new("long statements", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    // Each update takes a minute.
    place.execute(
        "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$; \
         create trigger slow before update on pgbench_accounts for each row execute function slow()",
    );
    let mut running = place.start("run tpcb-like -c 3 -R 200 -T 1h --ramp 0 --no-check");
    let asleep = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'";
    eventually("all clients are at it", SOON * 3, || place.ask(asleep) == "3");
    running.signal(Signal::INT);
    running.until_it_says("press Ctrl-C again to force", 1);
    running.signal(Signal::TERM);
    running.end().ended(130);
    eventually("nothing of ours is at work on the server", SOON, || {
        place.ask(ACTIVE) == "0" && place.ask(asleep) == "0"
    });
}

#[test]
fn transactions_that_fail_otherwise_are_an_error_of_the_run() {
    let Some(place) = Place::new("failing transactions", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    place.execute("alter table pgbench_history add constraint no_luck check (delta % 10 <> 0)");
    let ran = place.run("run tpcb-like -c 2 -T 2 --ramp 0 --allow-schema-changes").ended(2);
    let run = place.home.runs().pop().unwrap();
    assert_eq!((run.text("/status"), run.number("/exit_code")), ("invalid", 2.0), "{}", ran.stdout);
    assert!(run.number("/summary/failed") > 0.0 && run.number("/summary/committed") > 0.0);
    ran.prints(&["! invalid", "error 23514", "no_luck"]);

    // And when all of them do, nothing is a success.
    place.execute("alter table pgbench_history add constraint no_luck_at_all check (false) not valid");
    let ran = place.run("run tpcb-like -c 2 -T 1 --ramp 0 --no-check").ended(2);
    ran.prints(&["TRUST   not usable", "error 23514", "no_luck"]);
    assert_ne!(place.home.runs().pop().unwrap().text("/status"), "complete");
}
