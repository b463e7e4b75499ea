//! Sessions wait for the server's internal locks.

use pgdyno_results::FindingRecord;

use super::{waited, with_settings};
use crate::facts::Facts;
use crate::hot_rows::HotRows;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let mut found =
        waited(facts, "internal-locks", Class::Internal, "waiting for the server's internal locks (LWLocks)")?;
    // Sessions that want the same rows want the same pages, too.
    found.evidence.extend(HotRows::of(facts).map(|hot| hot.evidence()));
    let top = facts.waits.of_class(Class::Internal).next().map_or("", |(name, _)| name);
    let name = top.trim_start_matches("LWLock:").to_ascii_lowercase();
    found.advice = match name.as_str() {
        // Until 13 it was buffer_content.
        "buffercontent" | "buffer_content" => Some(
            "spread the rows over more pages (a larger scale, a lower fillfactor): many sessions want the same page"
                .to_owned(),
        ),
        "buffermapping" | "buffer_mapping" => with_settings(facts, "raise shared_buffers", &["shared_buffers"]),
        "procarray" | "xidgen" | "xidgenlock" => {
            with_settings(facts, "use fewer sessions (--connections, or a pool)", &["max_connections"])
        }
        "lockmanager" | "lock_manager" => {
            // Planning locks all indexes of a table; a generic plan locks all partitions.
            let what = "touch fewer partitions and indexes with each statement; prepare statements where tables have many indexes; \
                        set plan_cache_mode = force_custom_plan where they have many partitions";
            // From 18 on the setting sizes the fast path, which needs no such lock.
            let is_new = facts.record.server.as_ref().is_some_and(|server| server.version_num >= 180_000);
            if is_new {
                let what = format!("{what}; or raise max_locks_per_transaction");
                with_settings(facts, &what, &["max_locks_per_transaction"])
            } else {
                Some(what.to_owned())
            }
        }
        _ => None,
    };
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn the_weightiest_lock_decides_the_advice() {
        for (lock, advice) in [
            ("BufferContent", Some("same page")),
            ("buffer_content", Some("same page")),
            ("BufferMapping", Some("shared_buffers is 128MB")),
            ("ProcArray", Some("fewer sessions")),
            ("LockManager", Some("plan_cache_mode = force_custom_plan")),
            ("NoSuchLock", None),
        ] {
            let run =
                Run::new().waits(&[("LWLock", lock, 2.0), ("LWLock", "Other", 0.5)]).setting("shared_buffers", "128MB");
            let found = run.finds(look);
            assert_eq!(found.advice.is_some(), advice.is_some(), "{lock}");
            assert!(found.advice.unwrap_or_default().contains(advice.unwrap_or_default()), "{lock}");
        }
    }

    #[test]
    fn locks_of_the_wal_and_of_rows_are_no_internal_ones() {
        Run::new()
            .waits(&[("LWLock", "WALWrite", 4.0), ("LWLock", "WALInsert", 1.0), ("Lock", "tuple", 1.0)])
            .finds_nothing(look);
    }
}
