//! A run that was none: the server stops answering or is away, all clients wait for a lock, or the driver is stopped.

use std::time::Duration;

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::live::Frozen;

#[test]
fn a_server_that_freezes_for_good_fails_the_run_and_what_hung_is_in_the_latencies() {
    let Some(place) = Place::new("a server that freezes", "", TRUST) else { return };
    place.run("load select-only -s 1").ok();
    let mut running = place.start("run select-only -c 4 -T 6 --ramp 0 --grace 1s --no-check");
    running.until_it_says("progress:", 1);
    let frozen = Frozen::server(&place);
    let ran = running.end().ended(2);
    drop(frozen);
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.number("/summary/cancelled_in_flight")), ("failed", 4.0), "{}", ran.stdout);
    ran.prints(&[
        "TRUST   not usable",
        "! failed: the server stopped answering: 4 transactions never ended",
        "in flight at the end",
    ]);
    assert!(run.number("/summary/committed") > 0.0);
    let [transactions, counted, age_s] =
        ["transactions", "counted", "age_s_max"].map(|name| run.number(&format!("/summary/in_flight_at_end/{name}")));
    assert!((transactions, counted) == (4.0, 4.0) && age_s > 1.0 && age_s < 6.0, "{transactions} {counted} {age_s}");
    for latency in ["response_latency_ns", "service_latency_ns"] {
        let max = run.number(&format!("/summary/{latency}/max"));
        assert!((max / 1e9 - age_s).abs() < 0.01, "{latency}: {max} and {age_s} s");
    }
    assert_eq!(run.number("/transactions/0/service_latency_ns/max"), run.number("/summary/service_latency_ns/max"));
}

#[test]
fn a_window_in_which_nearly_nothing_ended_is_no_complete_run() {
    let Some(place) = Place::new("a stall of most of the window", "", TRUST) else { return };
    place.run("load select-only -s 1").ok();
    let mut running = place.start("run select-only -c 4 -T 6 --ramp 0 --no-check");
    running.until_it_says("progress:", 1);
    let mut other = place.server.admin();
    other.execute("begin; lock table pgbench_accounts").unwrap();
    running.until_it_says("(ending)", 1);
    other.execute("rollback").unwrap();
    let ran = running.end().ended(2);
    let run = place.home.the_run();
    // They end in the grace, and count as what they were when the window ended.
    assert_eq!((run.text("/status"), run.number("/summary/cancelled_in_flight")), ("invalid", 0.0), "{}", ran.stdout);
    let stalled_s = run.number("/summary/stalled_s");
    assert!((3.0..=5.0).contains(&stalled_s), "{stalled_s}");
    assert!(run.number("/summary/response_latency_ns/max") > 3e9);
    ran.prints(&["TRUST   not usable", "! invalid: no transaction succeeded for ", "first at "]);
    let events: Vec<_> =
        run.at("/events").as_array().unwrap().iter().filter(|event| event["kind"] == "stall").collect();
    assert_eq!(events.len(), 1, "{events:?}");
}

#[test]
fn an_outage_is_a_stall_although_nothing_is_in_flight_and_clients_only_fail() {
    let Some(mut place) = Place::new("an outage of half of the window", "", TRUST) else { return };
    place.run("load select-only -s 1").ok();
    let mut running = place.start("run select-only -c 4 -T 8 --ramp 0 --no-check --reconnect 60s");
    running.until_it_says("progress:", 2);
    place.server.crash();
    running.until_it_says("progress:", 6);
    place.server.restart();
    let ran = running.end().ended(2);
    let run = place.home.the_run();
    let stalled_s = run.number("/summary/stalled_s");
    assert!(stalled_s >= 3.0 - 1e-3, "{stalled_s}: {}", ran.stdout);
    let warnings = run.at("/warning_details").as_array().unwrap();
    let stall = warnings.iter().find(|warning| warning["kind"] == "nothing-ended").unwrap();
    assert_eq!((stall["disconnected_max"].as_u64(), stall["with_fault"].as_bool()), (Some(4), Some(false)), "{stall}");
}

#[test]
fn a_driver_that_did_not_run_is_not_taken_for_a_slow_server() {
    let Some(place) = Place::new("a driver that is stopped", "", TRUST) else { return };
    place.run("load select-only -s 1").ok();
    let mut running = place.start("run select-only -c 4 -T 6 --ramp 0 --no-check");
    running.until_it_says("progress:", 1);
    running.signal(Signal::STOP);
    // The window ends meanwhile.
    std::thread::sleep(Duration::from_secs(6));
    running.signal(Signal::CONT);
    let ran = running.end().ended(2);
    let run = place.home.the_run();
    assert_eq!(run.text("/status"), "invalid", "{}", ran.stdout);
    assert!(run.number("/client/absent") >= 0.5, "{}", run.at("/client"));
    ran.prints(&["TRUST   not usable", "! invalid: the driver did not run for "]);
}
