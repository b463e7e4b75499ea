//! What the driver says of itself: delays that a thread makes, because it is kept from its work, are found where they are.

use std::time::Duration;

use pgdyno_engine::{Arrivals, Rate, Rules, RunSpec};

use crate::MS;
use crate::server::Server;

const LINGER: Duration = Duration::from_millis(20);

fn spec(transactions: u64, rate: Option<Rate>) -> RunSpec {
    let rules = Rules { transactions: Some(transactions), ..Rules::default() };
    RunSpec { clients: 8, threads: 1, rate, rules, ..RunSpec::default() }
}

/// All replies lie there when the thread wakes: each waits for those before it.
#[test]
fn replies_that_wait_for_others_are_seen_to_wait() {
    let server = Server::start(|_, _| Duration::ZERO);
    let (outcome, ends) = server.drive(spec(5, None), LINGER);
    let delay = &outcome.measured.part.read_delay;
    assert!(delay.count() >= ends.len() as u64, "one for each reply: {delay:?}");
    // While the thread lingers over one client's reply those of the seven others come, whenever that is.
    assert!(delay.max_ns() >= 20 * MS, "{} ns", delay.max_ns());
    // What was not read is in the latency: the server was done with it long before.
    let slowest = outcome.measured.part.txns[0].service.max_ns();
    assert!(slowest >= delay.max_ns(), "{slowest}");
    let late = &outcome.measured.part.timer_lateness;
    assert_eq!(late.percentiles(), None, "nobody waited for a timer");
}

#[test]
fn a_reply_that_comes_alone_waits_for_no_other() {
    let server = Server::start(|_, _| Duration::ZERO);
    let (outcome, _) = server.drive(RunSpec { clients: 1, ..spec(20, None) }, LINGER);
    let delay = &outcome.measured.part.read_delay;
    assert_eq!((delay.count(), delay.max_ns()), (20, 0));
}

/// Each keeps the thread for three quarters of the mean time between two: often others fall due meanwhile, and are served
/// afterwards.
#[test]
fn arrivals_that_the_thread_is_late_for_are_seen_to_be_late() {
    let server = Server::start(|_, _| Duration::ZERO);
    let rate = Some(Rate { per_s: 150.0, arrivals: Arrivals::Poisson });
    let (outcome, ends) = server.drive(spec(30, rate), Duration::from_millis(5));
    let late = &outcome.measured.part.timer_lateness;
    assert!((1..=240).contains(&late.count()) && late.max_ns() >= 2 * MS, "{late:?}");
    let lag = outcome.measured.part.txns[0].lag.as_ref().unwrap();
    assert!(lag.max_ns() >= late.max_ns(), "a late timer is a late begin");
    for end in &ends {
        // Its client may go on at the moment of its end; whom a timer wakes begins when the thread is back.
        let held = end.end..end.end.after(5 * MS);
        let impossible = ends.iter().find(|other| other.client != end.client && held.contains(&other.begun));
        assert_eq!(impossible, None, "began while the thread was held after {end:?}");
    }
}
