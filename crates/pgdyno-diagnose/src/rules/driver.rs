//! The driver itself is full.

use pgdyno_results::FindingRecord;

use super::LOOKS_MIN;
use crate::facts::Facts;
use crate::words::{number, percent};

/// A thread that is on a CPU for more of the time than this is full, as the warning has it.
const BUSY: f64 = 0.9;

/// Threads that wait for a CPU for more of the time than this are held up, as the warning has it.
const STARVED: f64 = 0.05;

fn busiest(facts: &Facts<'_>) -> f64 {
    facts.record.client.thread_busy.iter().copied().fold(0.0, f64::max)
}

/// Whether the driver could not have done more.
pub(super) fn is_full(facts: &Facts<'_>) -> bool {
    busiest(facts) > BUSY || facts.record.client.run_delay > STARVED
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    if facts.waits.looks < LOOKS_MIN || facts.is_scheduled() || !is_full(facts) {
        return None;
    }
    // What is not spent on the server is spent in the driver, or on the way, which a full driver makes long.
    let elsewhere = 1.0 - facts.waits.total() / facts.clients_time();
    if elsewhere < super::LEAST {
        return None;
    }
    let client = &facts.record.client;
    let mut evidence = vec![format!(
        "its busiest thread was on a CPU for {} of the time, and its threads waited for one for {}",
        percent(busiest(facts)),
        percent(client.run_delay)
    )];
    if let Some(delay) = &client.read_delay_ns {
        evidence.push(format!("replies lay unread for {} µs (p99)", number(delay.p99 as f64 / 1e3)));
    }
    evidence.push(format!(
        "{} of {} sessions were active on average",
        number(facts.waits.total()),
        number(facts.connections())
    ));
    let (why, advice) = if busiest(facts) > BUSY {
        ("had no more to give", "more --threads, or a larger machine for the driver,")
    } else {
        ("waited for a CPU itself", "a machine of its own for the driver")
    };
    Some(FindingRecord {
        rule: "driver".to_owned(),
        text: format!("for {} {} the server waited for a driver that {why}", percent(elsewhere), facts.of_what()),
        weight: elsewhere.min(1.0),
        evidence,
        advice: Some(format!("{advice} could be tried (-j is {})", client.threads)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(busy: f64, run_delay: f64, active: f64) -> Run {
        let mut run = Run::new().waits(&[("CPU", "CPU", active)]);
        run.record.client.thread_busy = vec![0.1, busy];
        run.record.client.run_delay = run_delay;
        run.record.client.threads = 2;
        run
    }

    #[test]
    fn a_driver_without_a_cpu_of_its_own_is_told() {
        for (busy, delay, why) in [(0.97, 0.0, "no more to give"), (0.3, 0.2, "waited for a CPU itself")] {
            let found = run(busy, delay, 2.0).finds(look);
            assert!((found.weight - 0.75).abs() < 1e-9 && found.text.ends_with(why), "{found:?}");
            assert!(found.advice.unwrap().contains("(-j is 2)"));
        }
    }

    #[test]
    fn a_driver_that_has_room_or_is_not_waited_for_is_nothing() {
        run(0.5, 0.01, 2.0).finds_nothing(look);
        run(0.99, 0.0, 7.9).finds_nothing(look);
    }
}
