//! What the driver says of itself: delays that a thread makes, because it is kept from its work, are found where they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pgdyno_engine::{Arrivals, ClientRules, FileLimit, Rate, RunSpec, TxEnd, raise_file_limit};

use crate::MS;
use crate::server::Server;

const LINGER: Duration = Duration::from_millis(20);

fn spec(transactions: u64, rate: Option<Rate>) -> RunSpec {
    let rules = ClientRules { transactions: Some(transactions), ..ClientRules::default() };
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

/// More sockets than one call of the poller prints. The thread is held over the first reply of each round until all others
/// lie there, and for 50 ms more.
#[test]
fn thousands_of_replies_that_lie_ready_are_seen_to_have_lain_there() {
    const CLIENTS: u32 = 3_000;
    const ROUNDS: u64 = 2;
    let needed = 2 * CLIENTS;
    if let FileLimit::TooLow { hard, .. } = raise_file_limit(needed) {
        eprintln!("SKIPPED: {needed} open files are needed, and {hard} allowed");
        return;
    }
    let (server, answered) = Server::answering_all_at_once(CLIENTS as usize);
    let held = AtomicU64::new(0);
    let hold = move |end: &TxEnd| {
        // The first of its round.
        if held.fetch_max(end.number, Ordering::SeqCst) < end.number {
            while answered.load(Ordering::SeqCst) < end.number {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let spec = RunSpec { clients: CLIENTS, ..spec(ROUNDS, None) };
    let (outcome, ends) = server.drive_holding(spec, Arc::new(hold));
    let delay = &outcome.measured.part.read_delay;
    assert_eq!((ends.len() as u64, delay.count()), (ROUNDS * u64::from(CLIENTS), ROUNDS * u64::from(CLIENTS)));
    // All but the first of each round lay there for 50 ms and more, and the last of a round from the first one on.
    let least = ROUNDS * u64::from(CLIENTS - 1) * 50 * MS;
    assert!(delay.sum_ns() >= least, "{} ns unread of {least}", delay.sum_ns());
    let lengths = (1..=ROUNDS).map(|round| {
        let ends = || ends.iter().filter(|end| end.number == round).map(|end| end.end);
        ends().max().unwrap().since(ends().min().unwrap())
    });
    let longest = lengths.max().unwrap();
    assert!(delay.max_ns() >= longest, "{} of {longest} ns", delay.max_ns());
    // No reply was there before it was asked for.
    let service = &outcome.measured.part.txns[0].service;
    assert!(u128::from(delay.sum_ns()) <= service.sum_ns() && delay.max_ns() <= service.max_ns());
    // As `unread_share` of the record has it: the driver was the bottleneck, by rule.
    let share = delay.sum_ns() as f64 / service.sum_ns() as f64;
    assert!(share > 0.05, "{share}");
}

/// Two clients are never ready at once, but the one waits while the thread is busy with the other.
#[test]
fn a_reply_that_came_while_the_thread_was_busy_is_seen_to_have_waited() {
    let server = Server::start(|_, _| Duration::ZERO);
    let (outcome, _) = server.drive(RunSpec { clients: 2, ..spec(20, None) }, LINGER);
    let delay = &outcome.measured.part.read_delay;
    // Each for 20 ms where the server answers meanwhile; a quarter of them is enough.
    assert!(delay.count() == 40 && delay.sum_ns() >= 10 * 20 * MS, "{delay:?}");
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
