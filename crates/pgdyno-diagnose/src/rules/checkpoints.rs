//! WAL makes checkpoints due before their time.

use pgdyno_results::FindingRecord;
use pgdyno_samples::{checkpointer, wal};
use pgdyno_text::brief::{duration, number};
use pgdyno_text::units::mean_bytes;

use super::{UNKNOWN, with_settings};
use crate::facts::Facts;

/// Fewer checkpoints than this that were not due by time could be a user's order.
const REQUESTED_MIN: f64 = 2.0;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let in_window = |column| facts.rate(column).map(|rate| rate * facts.seconds());
    let (requested, timed) =
        (in_window(checkpointer::NUM_REQUESTED)?.round(), in_window(checkpointer::NUM_TIMED)?.round());
    if requested < REQUESTED_MIN || requested <= timed {
        return None;
    }
    let mut evidence = vec![format!(
        "{} checkpoints by WAL or by order and {} by time within {}",
        number(requested),
        number(timed),
        duration(facts.seconds())
    )];
    if let Some(bytes_per_s) = facts.rate(wal::LSN_BYTES) {
        evidence.push(format!("{} of WAL a second", mean_bytes(bytes_per_s)));
    }
    Some(FindingRecord {
        rule: "checkpoints".to_owned(),
        text: format!(
            "checkpoints came every {}: most were not due by time",
            duration(facts.seconds() / (requested + timed))
        ),
        weight: UNKNOWN,
        also_seen: true,
        evidence,
        advice: with_settings(facts, "raise max_wal_size", &["max_wal_size", "checkpoint_timeout"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(timed: f64, requested: f64) -> Run {
        Run::new()
            .counters("checkpointer", &[("num_timed", timed), ("num_requested", requested)])
            .setting("max_wal_size", "1GB")
    }

    #[test]
    fn checkpoints_by_wal_are_reported() {
        let found = run(0.0, 0.5).finds(look);
        assert_eq!(found.evidence, ["5.0 checkpoints by WAL or by order and 0.00 by time within 10 s"]);
        assert!(
            found.text.starts_with("checkpoints came every 2.0 s")
                && found.advice.unwrap().ends_with("(max_wal_size is 1GB)")
        );
    }

    #[test]
    fn those_by_time_and_a_single_order_are_as_they_should_be() {
        run(0.3, 0.2).finds_nothing(look);
        run(0.0, 0.1).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
