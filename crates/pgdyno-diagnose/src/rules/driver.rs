//! The driver itself takes the clients' time.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use super::{SAMPLES_MIN, cpu};
use crate::facts::Facts;

/// An engine thread that is on a CPU for more of the time than this is full, as the warning has it.
const BUSY: f64 = 0.9;

fn busiest(facts: &Facts<'_>) -> f64 {
    facts.record.client.thread_busy.iter().copied().fold(0.0, f64::max)
}

/// Returns true if the driver waits for CPUs that the server's machine does not have: the rule of the CPU has that time.
fn is_part_of_cpu(facts: &Facts<'_>) -> bool {
    facts.is_local() && cpu::is_saturated(facts) == Some(true)
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let share = facts.account.share(facts.account.driver);
    if facts.waits.looks < SAMPLES_MIN || share < super::SHARE_MIN || is_part_of_cpu(facts) {
        return None;
    }
    let client = &facts.record.client;
    let mut evidence = vec![format!(
        "its busiest thread was on a CPU for {} of the time, its threads waited for one for {}",
        percent(busiest(facts)),
        percent(client.run_delay)
    )];
    if let Some(unread) = client.unread_share.filter(|unread| *unread > 0.0) {
        evidence.push(format!("replies lay unread for {} of the service time", percent(unread)));
    }
    if let Some(delay) = &client.read_delay_ns {
        evidence.push(format!("replies lay unread for {} µs (p99)", number(delay.p99 as f64 / 1e3)));
    }
    let advice = if busiest(facts) > BUSY {
        format!("use more --threads (-j is {}), or a larger machine for the driver", client.threads)
    } else {
        "give the driver a machine of its own, or more CPUs".to_owned()
    };
    Some(FindingRecord {
        rule: "driver".to_owned(),
        text: format!("{} {} went into the driver", percent(share), facts.of_what()),
        weight: share,
        evidence,
        advice: Some(advice),
        also_seen: false,
        ..FindingRecord::default()
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
    fn a_driver_is_charged_with_what_it_measured() {
        // 1.07 sessions of work in its threads, 10 % of the six that are not active held up by their waits for a CPU.
        let found = run(0.97, 0.1, 2.0).finds(look);
        assert!((found.weight - (1.07 + 0.6) / 8.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.text, "21 % of the clients' time went into the driver");
        assert!(found.advice.unwrap().contains("(-j is 2)"));
        let found = run(0.3, 0.2, 2.0).finds(look);
        assert!(found.weight < 0.26 && found.advice.unwrap().contains("machine of its own"));
    }

    #[test]
    fn a_thread_that_does_little_is_no_cause() {
        let mut run = run(0.03, 0.06, 0.1);
        run.record.client.thread_busy = vec![0.03];
        let found = run.finds(look);
        assert!(found.weight < 0.07, "{found:?}");
    }

    #[test]
    fn a_driver_that_has_room_or_is_not_waited_for_is_nothing() {
        run(0.1, 0.01, 2.0).finds_nothing(look);
        run(0.99, 0.0, 7.9).finds_nothing(look);
        let mut full = run(0.99, 0.2, 1.0).gauges("machine", &[("cpus", 2.0), ("busy_cpus", 1.95)]);
        full.record.server.as_mut().unwrap().local = true;
        full.finds_nothing(look);
    }
}
