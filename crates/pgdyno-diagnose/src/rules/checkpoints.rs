//! WAL makes checkpoints due before their time.

use pgdyno_results::FindingRecord;
use pgdyno_samples::{checkpointer, wal};
use pgdyno_text::brief::duration;
use pgdyno_text::units::mean_bytes;

use super::{UNKNOWN, full_pages, with_settings};
use crate::explained::Explained;
use crate::facts::Facts;

/// Fewer checkpoints than this that were not due by time could be a user's order.
const REQUESTED_MIN: f64 = 2.0;

/// Checkpoints that WAL makes due begin when less than this share of `max_wal_size` was written since the one before: it holds the
/// WAL of up to three of them (`CheckPointSegments` in PostgreSQL's source).
const OF_MAX_WAL_SIZE: f64 = 0.2;

/// Checkpoints in the window.
struct Checkpoints {
    requested: f64,
    timed: f64,
    /// Whether WAL made them due: between two of them lies about the WAL that `max_wal_size` allows.
    is_forced: bool,
}

impl Checkpoints {
    /// Returns those of a run in which most checkpoints were not due by time.
    fn of(facts: &Facts<'_>) -> Option<Self> {
        let in_window = |column| facts.rate(column).map(|rate| rate * facts.seconds());
        let requested = in_window(checkpointer::NUM_REQUESTED)?.round();
        let timed = in_window(checkpointer::NUM_TIMED)?.round();
        if requested < REQUESTED_MIN || requested <= timed {
            return None;
        }
        let between = facts.rate(wal::LSN_BYTES).map(|per_s| per_s * facts.seconds() / requested);
        let is_forced = between
            .zip(facts.setting_bytes("max_wal_size"))
            .is_some_and(|(between, most)| (OF_MAX_WAL_SIZE * most..=2.0 * most).contains(&between));
        Some(Self { requested, timed, is_forced })
    }
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let Checkpoints { requested, timed, is_forced } = Checkpoints::of(facts)?;
    let counted = format!("{requested:.0} in {}", duration(facts.seconds()));
    let size = facts.setting("max_wal_size");
    let text = match size.filter(|_| is_forced) {
        Some(size) => format!("checkpoints were forced by max_wal_size ({size}): {counted}"),
        None => format!("checkpoints were made before checkpoint_timeout, by WAL or by command: {counted}"),
    };
    let mut evidence = vec![format!("{requested:.0} by WAL or by command, {timed:.0} by time")];
    let bytes_per_s = facts.rate(wal::LSN_BYTES);
    if let Some(bytes_per_s) = bytes_per_s {
        evidence.push(format!("{} of WAL a second", mean_bytes(bytes_per_s)));
    }
    Some(FindingRecord {
        rule: "checkpoints".to_owned(),
        text,
        weight: UNKNOWN,
        also_seen: true,
        evidence,
        advice: match size.is_some() && !is_forced && bytes_per_s.is_some() {
            true => {
                Some("find out what orders them (log_checkpoints): CHECKPOINT, a backup, CREATE DATABASE".to_owned())
            }
            false => with_settings(facts, "raise max_wal_size", &["max_wal_size", "checkpoint_timeout"]),
        },
        ..FindingRecord::default()
    })
}

/// Returns true if `max_wal_size` forced checkpoints: each makes the next change of a page write all of it into WAL.
pub(crate) fn are_forced(facts: &Facts<'_>) -> bool {
    Checkpoints::of(facts).is_some_and(|checkpoints| checkpoints.is_forced)
}

/// Forced checkpoints explain the work that full images are.
pub(crate) fn of_cpu(facts: &Facts<'_>) -> Option<Explained> {
    full_pages::of_cpu(facts).filter(|_| are_forced(facts))
}

/// Forced checkpoints explain the WAL that full images are.
pub(crate) fn of_wal(facts: &Facts<'_>) -> Option<Explained> {
    full_pages::of_wal(facts).filter(|_| are_forced(facts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(timed: f64, requested: f64, wal_mib: f64) -> Run {
        Run::new()
            .counters("checkpointer", &[("num_timed", timed), ("num_requested", requested)])
            .counters("wal", &[("lsn_bytes", wal_mib * 1024.0 * 1024.0)])
            .setting("max_wal_size", "1GB")
    }

    #[test]
    fn checkpoints_by_wal_are_reported() {
        let found = run(0.0, 0.5, 200.0).finds(look);
        assert_eq!(found.text, "checkpoints were forced by max_wal_size (1GB): 5 in 10 s");
        assert_eq!(found.evidence, ["5 by WAL or by command, 0 by time", "200.0 MiB of WAL a second"]);
        assert!(found.advice.unwrap().ends_with("(max_wal_size is 1GB)"));
        // Checkpoints by time are not counted.
        let found = run(0.2, 0.4, 200.0).finds(look);
        assert_eq!(found.text, "checkpoints were forced by max_wal_size (1GB): 4 in 10 s");
    }

    #[test]
    fn checkpoints_with_little_wal_between_them_were_not_forced_by_it() {
        let found = run(0.0, 0.5, 1.0).finds(look);
        assert_eq!(found.text, "checkpoints were made before checkpoint_timeout, by WAL or by command: 5 in 10 s");
        assert!(found.advice.unwrap().starts_with("find out what orders them"));
        assert_eq!(run(0.0, 0.5, 1.0).ask(of_wal), None);
    }

    #[test]
    fn those_by_time_and_a_single_order_are_as_they_should_be() {
        run(0.3, 0.2, 1.0).finds_nothing(look);
        run(0.0, 0.1, 1.0).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
