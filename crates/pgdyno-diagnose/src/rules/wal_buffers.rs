//! Sessions wait for room in the WAL buffers.

use pgdyno_results::FindingRecord;
use pgdyno_samples::wal;
use pgdyno_text::brief::number;

use super::{waited, with_settings};
use crate::facts::Facts;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let mut found = waited(facts, "wal-buffers", Class::WalBuffers, "waiting for room in the WAL buffers")?;
    let full = facts.rate(wal::WAL_BUFFERS_FULL).filter(|full| *full > 0.0);
    if let Some(full) = full {
        found.evidence.push(format!("the WAL buffers were full {} times a second", number(full)));
        found.advice = with_settings(facts, "raise wal_buffers", &["wal_buffers"]);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn full_buffers_are_reported_with_their_setting() {
        let waits = [("LWLock", "WALInsert", 2.0)];
        let run = Run::new().waits(&waits).counters("wal", &[("wal_buffers_full", 12.0)]).setting("wal_buffers", "4MB");
        let found = run.finds(look);
        assert_eq!(found.evidence[1], "the WAL buffers were full 12 times a second");
        assert_eq!(found.advice.unwrap(), "raise wal_buffers (wal_buffers is 4MB)");
        // Where they were never full, more of them would not help.
        let run = Run::new().waits(&waits).counters("wal", &[("wal_buffers_full", 0.0)]);
        assert_eq!(run.finds(look).advice, None);
    }

    #[test]
    fn full_buffers_for_which_nobody_waits_are_nothing() {
        Run::new().waits(&[("CPU", "CPU", 5.0)]).counters("wal", &[("wal_buffers_full", 12.0)]).finds_nothing(look);
    }
}
