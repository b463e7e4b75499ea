//! Real sockets and real time. Nothing here depends on how long anything takes: a request is read after it was sent, and
//! a reply is there before it is read, so that a latency that is shorter than the server's own time for it is a lie. That
//! the clocks of both sides fit together is asserted, too, which no latency that is too long survives in a closed loop.

use std::time::Duration;

use pgdyno_engine::{Arrivals, ClientRules, Rate, RunOutcome, RunSpec, TxEnd};
use pgdyno_measure::Latency;
use pgdyno_workload::Rng;

use crate::server::{Exchange, Server};
use crate::truth::agrees;
use crate::{MS, S};

const CLIENTS: u32 = 4;

fn spec(transactions: u64) -> RunSpec {
    let rules = ClientRules { transactions: Some(transactions), ..ClientRules::default() };
    RunSpec { clients: CLIENTS, threads: 2, rules, ..RunSpec::default() }
}

fn ns(time: Duration) -> i128 {
    time.as_nanos() as i128
}

/// Asserts that every transaction of a client spans the exchange that it is made of, for one and the same difference of the
/// two clocks.
fn spans(client: u32, ends: &[TxEnd], exchanges: &[Exchange]) {
    assert_eq!(ends.len(), exchanges.len(), "client {client}: as many as the server answered");
    let origin = exchanges[0].read;
    let (mut least, mut greatest) = (i128::MIN, i128::MAX);
    for (end, exchange) in ends.iter().zip(exchanges) {
        let truth = ns(exchange.sent - exchange.read);
        assert!(i128::from(end.end.since(end.begun)) >= truth, "client {client}: {end:?} hides some of {exchange:?}");
        least = least.max(ns(exchange.sent - origin) - i128::from(end.end.0));
        greatest = greatest.min(ns(exchange.read - origin) - i128::from(end.begun.0));
    }
    assert!(least <= greatest, "client {client}: the clocks must be apart by {least} or more and {greatest} or less");
    let one_by_one = ends.windows(2).all(|pair| pair[0].end <= pair[1].begun);
    assert!(one_by_one, "client {client}: a transaction began before the one before it had ended");
}

/// Asserts that transactions span their exchanges, and that the record is of these very transactions.
fn holds(server: &Server, outcome: &RunOutcome, ends: &[TxEnd]) {
    for client in 0..CLIENTS {
        let mine: Vec<_> = ends.iter().filter(|end| end.client == client).copied().collect();
        spans(client, &mine, &server.exchanges(client));
    }
    let txn = &outcome.measured.part.txns[0];
    let times = |of: fn(&TxEnd) -> u64| ends.iter().map(of).collect::<Vec<_>>();
    agrees("service", &txn.service, &times(|end| end.end.since(end.begun)));
    agrees("statements", &outcome.measured.part.stmts[0].latency, &times(|end| end.end.since(end.begun)));
    let response: Option<&Latency> = txn.response.as_ref();
    if let Some(response) = response {
        agrees("response", response, &times(|end| end.end.since(end.intended)));
    }
}

#[test]
fn no_latency_is_shorter_than_the_servers_own_time_for_it() {
    let constant = |_, _| Duration::from_millis(1);
    let bimodal = |_, nth| Duration::from_millis(if nth % 10 == 3 { 20 } else { 0 });
    let jitter = |client, nth| {
        let mut rng = Rng::derive(5, "delay", &[u64::from(client), nth]);
        Duration::from_nanos(rng.exponential(1e6) as u64)
    };
    let stall = |_, nth| Duration::from_millis(if nth == 20 { 1_000 } else { 0 });
    // Replies that are read together are no exception.
    for coalesce_ns in [0, 5 * MS] {
        for server in [Server::start(constant), Server::start(bimodal), Server::start(jitter), Server::start(stall)] {
            let (outcome, ends) = server.drive(RunSpec { coalesce_ns, ..spec(50) }, Duration::ZERO);
            assert_eq!(ends.len(), 200);
            holds(&server, &outcome, &ends);
        }
    }
}

/// The server answers four requests as soon as it has them, and the thread looks every 20 ms: but for the first times, four
/// replies lie there for most of that.
#[test]
fn replies_that_lie_unread_to_be_read_together_are_read_late() {
    let (server, _) = Server::answering_all_at_once(CLIENTS as usize);
    let (outcome, ends) = server.drive(RunSpec { threads: 1, coalesce_ns: 20 * MS, ..spec(20) }, Duration::ZERO);
    let (service, unread) =
        (ends.iter().map(|end| end.end.since(end.begun)).sum::<u64>(), outcome.measured.part.read_delay.sum_ns());
    assert!(unread >= 100 * MS, "{unread} ns of {service} ns");
    assert!(u128::from(service) >= u128::from(unread), "{unread} ns of {service} ns");
}

/// Each client is kept waiting once for half a second, and so is what was meant to begin meanwhile.
#[test]
fn with_a_rate_a_stall_is_in_the_response_time_of_all_that_it_held_up() {
    const STALL: Duration = Duration::from_millis(500);
    let server = Server::start(|_, nth| if nth == 10 { STALL } else { Duration::ZERO });
    let rate = Some(Rate { per_s: 400.0, arrivals: Arrivals::Uniform });
    let (outcome, mut ends) = server.drive(RunSpec { rate, ..spec(100) }, Duration::ZERO);
    holds(&server, &outcome, &ends);
    // Two threads, each with two clients: the intended starts are the schedule, whatever the server did.
    ends.sort_by_key(|end| end.intended);
    let gap = S / 400;
    assert!(ends.iter().zip(0..).all(|(end, nth)| end.intended.0.abs_diff(nth * gap) <= 1), "not the schedule");
    // 70 arrivals of a thread fall into the first 350 ms of its first stall. Its other client serves ten of them at most until
    // it is kept waiting itself; the others begin after the stall, 150 ms late or more.
    let response = outcome.measured.part.txns[0].response.as_ref().unwrap().histogram().unwrap();
    let held_up = response.count_between(150 * MS, u64::MAX);
    assert!(held_up >= 120, "{held_up}");
}
