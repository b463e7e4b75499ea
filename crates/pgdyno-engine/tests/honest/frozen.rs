//! A server that stops answering for good: what waits for it is not missing from the latencies.

use pgdyno_engine::{Arrivals, Rate};
use pgdyno_measure::in_flight::with_ages;

use crate::{MS, Run, S};

/// Answers after a millisecond until this time, and an hour later from then on.
fn frozen_at(at: u64) -> impl FnMut(usize, u64) -> u64 {
    move |_, now| if now < at { MS } else { 3_600 * S }
}

#[test]
fn transactions_in_flight_at_the_end_have_the_age_of_the_freeze() {
    let part = Run::of(4).simulate(8 * S, frozen_at(2 * S));
    assert_eq!(part.in_flight.len(), 4);
    let ages: Vec<_> = part.in_flight.iter().map(|one| one.service_ns).collect();
    assert!(ages.iter().all(|age| (6 * S - MS..=6 * S).contains(age)), "{ages:?}");
    assert!(part.in_flight.iter().all(|one| one.response_ns == one.service_ns && one.txn == 0));
    // The simulation goes on until they end; a run ends before.
    let mut ended = pgdyno_measure::Latency::default();
    (0..8_000).for_each(|_| ended.record(MS));
    let whole = with_ages(&ended, ages.into_iter());
    assert!(whole.max_ns() >= 6 * S - MS && whole.count() == 8_004);
}

#[test]
fn with_a_schedule_the_age_is_that_since_the_intended_start() {
    let rate = Some(Rate { per_s: 100.0, arrivals: Arrivals::Uniform });
    let part = Run { rate, ..Run::of(2) }.simulate(5 * S, frozen_at(4 * S));
    let mut ages: Vec<_> = part.in_flight.iter().map(|one| (one.response_ns, one.service_ns)).collect();
    ages.sort_unstable();
    assert_eq!(ages.len(), 2);
    assert!(ages.iter().all(|(response, service)| response >= service && *response <= S), "{ages:?}");
    assert!(part.still_waiting >= 97, "{}", part.still_waiting);
}

#[test]
fn a_run_whose_transactions_end_in_time_has_young_ones_in_flight() {
    let part = Run::of(3).simulate(S, |_, _| MS);
    assert!(part.in_flight.len() <= 3 && part.in_flight.iter().all(|one| one.service_ns <= MS));
}
