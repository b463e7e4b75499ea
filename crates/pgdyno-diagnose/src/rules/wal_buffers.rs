//! Sessions wait to insert WAL into its buffers: for one of the locks of insertions, or for room.

use pgdyno_results::FindingRecord;
use pgdyno_samples::wal;
use pgdyno_text::brief::number;

use super::{waited, with_settings};
use crate::facts::Facts;
use crate::waits::Class;

/// Where the buffers are full for fewer of the records than this, more of them would not help.
const FULL_MIN: f64 = 0.01;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let mut found = waited(facts, "wal-buffers", Class::WalBuffers, "waiting to insert WAL into its buffers")?;
    let full = facts.rate(wal::WAL_BUFFERS_FULL).filter(|full| *full > 0.0);
    if let Some(full) = full {
        found.evidence.push(format!("the WAL buffers were full {} times a second", number(full)));
    }
    let records = facts.rate(wal::WAL_RECORDS).unwrap_or_default();
    // Sessions that want room wait for the mapping of the buffers.
    let top = facts.waits.of_class(Class::WalBuffers).next().map_or("", |(name, _)| name);
    let lacks_room =
        top.eq_ignore_ascii_case("LWLock:WALBufMapping") || full.is_some_and(|full| full >= FULL_MIN * records);
    found.advice = match lacks_room {
        true => with_settings(facts, "raise wal_buffers", &["wal_buffers"]),
        false => Some("write less WAL (fewer indexes, several rows in a statement), or use fewer clients".to_owned()),
    };
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
        // Where they were hardly ever full, more of them would not help.
        for full in [0.0, 12.0] {
            let run = Run::new().waits(&waits).counters("wal", &[("wal_buffers_full", full), ("wal_records", 9_000.0)]);
            assert!(run.finds(look).advice.unwrap().starts_with("write less WAL"), "{full}");
        }
        let run = Run::new().waits(&[("LWLock", "WALBufMapping", 2.0)]);
        assert_eq!(run.finds(look).advice.unwrap(), "raise wal_buffers");
    }

    #[test]
    fn full_buffers_for_which_nobody_waits_are_nothing() {
        Run::new().waits(&[("CPU", "CPU", 5.0)]).counters("wal", &[("wal_buffers_full", 12.0)]).finds_nothing(look);
    }
}
