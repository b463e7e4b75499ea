//! The open loop and shared connections, in virtual time.

use pgdyno_engine::{Arrivals, Rate};
use pgdyno_measure::ThreadCounts;

use crate::model::{self, Expected};
use crate::truth::agrees;
use crate::{Delays, MS, Run, S};

fn holds(what: &str, part: &ThreadCounts, expected: &Expected) {
    let txn = &part.txns[0];
    assert_eq!((txn.skipped, txn.late), (expected.skipped, expected.late), "{what}: skipped and late");
    agrees(&format!("{what}: service"), &txn.service, &expected.service);
    agrees(&format!("{what}: response"), txn.response.as_ref().unwrap(), &expected.response);
    agrees(&format!("{what}: lag"), txn.lag.as_ref().unwrap(), &expected.lag);
}

fn rate(per_s: f64, arrivals: Arrivals) -> Option<Rate> {
    Some(Rate { per_s, arrivals })
}

#[test]
fn every_percentile_of_an_open_loop_is_that_of_the_queue() {
    for delays in Delays::ALL {
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            for (clients, per_s) in [(1, 220.0), (16, 2_000.0)] {
                let run = Run { rate: rate(per_s, arrivals), ..Run::of(clients) };
                let mut service = delays.service();
                let part = run.simulate(10 * S, |_, at| service(at));
                let expected = model::open(&run.arrivals(10 * S), clients, None, 10 * S, delays.service());
                holds(&format!("{delays:?}, {arrivals:?}, {clients} clients"), &part, &expected);
            }
        }
    }
}

/// One client serves 1,000 a second, and 500 come: what comes `x` ms after the begin of the stall ends 1,001 − `x`/2 ms
/// later than it should have begun, down to the 1 ms that each takes, when a second after the stall the queue is gone. So of
/// the 5,000 arrivals of ten seconds one each took 1,001, 1,000, … 2 ms, and the others 1 ms.
#[test]
fn a_stall_shows_in_response_times_as_the_queue_behind_it_and_once_in_service_times() {
    let run = Run { rate: rate(500.0, Arrivals::Uniform), ..Run::of(1) };
    let mut service = Delays::Stall.service();
    let part = run.simulate(10 * S, |_, at| service(at));
    let txn = &part.txns[0];
    let triangle = (2..=1_001).map(|ms| ms * MS);
    let response: Vec<u64> = triangle.chain(std::iter::repeat_n(MS, 4_000)).collect();
    agrees("response", txn.response.as_ref().unwrap(), &response);
    let service: Vec<u64> = [1_001 * MS].into_iter().chain(std::iter::repeat_n(MS, 4_999)).collect();
    agrees("service", &txn.service, &service);
    // The same in the words of a report: p90, p99.
    let percentile = |quantile| txn.response.as_ref().unwrap().quantile_ns(quantile).unwrap() / MS;
    assert_eq!((percentile(0.8), percentile(0.9), percentile(0.99)), (1, 501, 951));
    assert_eq!(txn.service.quantile_ns(0.999).unwrap() / MS, 1);
}

#[test]
fn arrivals_past_the_limit_are_counted_and_in_no_latency() {
    for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
        for limit in [20 * MS, 300 * MS] {
            let run = Run { rate: rate(900.0, arrivals), limit_ns: Some(limit), ..Run::of(2) };
            let mut service = Delays::Stall.service();
            let part = run.simulate(6 * S, |_, at| service(at));
            let expected = model::open(&run.arrivals(6 * S), 2, Some(limit), 6 * S, Delays::Stall.service());
            assert!(expected.skipped > 600 && expected.late >= 2, "{} {}", expected.skipped, expected.late);
            holds(&format!("{arrivals:?}, limit {limit}"), &part, &expected);
        }
    }
}

#[test]
fn the_wait_for_a_shared_connection_is_in_response_times_to_the_nanosecond() {
    for delays in Delays::ALL {
        let run = Run { lines: Some(3), think_ns: 50 * MS, ..Run::of(100) };
        let mut service = delays.service();
        let part = run.simulate(10 * S, |_, at| service(at));
        let expected = model::shared(100, 3, 50 * MS, 10 * S, delays.service());
        assert!(expected.lag.iter().any(|lag| *lag > 10 * MS), "connections are scarce");
        holds(&format!("{delays:?}"), &part, &expected);
    }
}
