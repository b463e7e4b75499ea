//! Commits wait until WAL is on its disk.

use pgdyno_results::FindingRecord;
use pgdyno_samples::{database, io, wal};
use pgdyno_text::brief::{duration, number};
use pgdyno_text::units::mean_bytes;

use super::{waited, with_settings};
use crate::facts::Facts;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let mut found = waited(facts, "wal-flush", Class::WalFlush, "WAL flush")?;
    let (syncs, sync_s) = syncs(facts);
    if let (Some(syncs), Some(sync_s)) = (syncs, sync_s) {
        found.evidence.push(format!(
            "a WAL sync took {} (mean of {} a second)",
            duration(sync_s / syncs),
            number(syncs)
        ));
    }
    if let (Some(syncs), Some(commits)) = (syncs, facts.rate(database::XACT_COMMIT)) {
        found.evidence.push(format!("{} commits for each WAL sync", number(commits / syncs)));
    }
    if let Some(written) = facts.rate(wal::LSN_BYTES).or(facts.rate(wal::WAL_BYTES)) {
        found.evidence.push(format!("{} of WAL a second", mean_bytes(written)));
    }
    let what = "put pg_wal on a faster disk, or add clients (commits share a flush); set synchronous_commit off only where a \
                crash may lose the last commits";
    found.advice = with_settings(facts, what, &["synchronous_commit", "wal_sync_method"]);
    Some(found)
}

/// WAL syncs a second, and the seconds that they took of each, where the server counts them: until 17 beside WAL, then with
/// other I/O. The time is nothing where the server does not measure it.
fn syncs(facts: &Facts<'_>) -> (Option<f64>, Option<f64>) {
    let in_io = |column| facts.rate_where(&[(io::OBJECT, "wal")], &[io::BACKEND_TYPE, io::CONTEXT], column);
    let syncs = facts.rate(wal::WAL_SYNC).or_else(|| in_io(io::FSYNCS));
    let ms = facts.rate(wal::WAL_SYNC_TIME_MS).or_else(|| in_io(io::FSYNC_TIME_MS));
    let positive = |n: &f64| *n > 0.0;
    (syncs.filter(positive), ms.filter(positive).map(|ms| ms / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn commits_that_wait_for_wal_are_reported_with_the_time_of_a_sync() {
        let run = Run::new()
            .waits(&[("LWLock", "WALWrite", 3.0), ("IO", "WalSync", 1.0), ("CPU", "CPU", 2.0)])
            .counters("wal", &[("wal_sync", 100.0), ("wal_sync_time_ms", 410.0), ("lsn_bytes", 1_048_576.0)])
            .counters("database", &[("xact_commit", 450.0)])
            .setting("synchronous_commit", "on");
        let found = run.finds(look);
        assert!((found.weight - 0.5).abs() < 1e-9);
        assert_eq!(
            found.evidence,
            [
                "4.0 sessions (67 % of active samples): LWLock:WALWrite 3.0, IO:WalSync 1.0",
                "a WAL sync took 4.1 ms (mean of 100 a second)",
                "4.5 commits for each WAL sync",
                "1.0 MiB of WAL a second"
            ]
        );
        assert!(found.advice.unwrap().ends_with("lose the last commits (synchronous_commit is on)"));
    }

    #[test]
    fn version_18_counts_syncs_with_other_io() {
        let keys: &[&str] = &["backend_type", "object", "context"];
        let run = Run::new().waits(&[("IO", "WalSync", 4.0)]).keyed_counters(
            "io",
            keys,
            &[
                (&["client backend", "wal", "normal"], &[("fsyncs", 40.0), ("fsync_time_ms", 80.0)]),
                (&["walwriter", "wal", "normal"], &[("fsyncs", 10.0), ("fsync_time_ms", 20.0)]),
                (&["client backend", "relation", "normal"], &[("fsyncs", 500.0), ("fsync_time_ms", 9.0)]),
            ],
        );
        assert_eq!(run.finds(look).evidence[1], "a WAL sync took 2.0 ms (mean of 50 a second)");
    }

    #[test]
    fn a_time_that_is_not_measured_is_not_reported() {
        let run = Run::new()
            .waits(&[("IO", "WALSync", 4.0)])
            .counters("wal", &[("wal_sync", 100.0), ("wal_sync_time_ms", 0.0)]);
        assert_eq!(run.finds(look).evidence.len(), 1);
    }

    #[test]
    fn commits_that_hardly_wait_are_none() {
        Run::new().waits(&[("IO", "WALSync", 0.3), ("CPU", "CPU", 5.0)]).finds_nothing(look);
        Run::new().counters("wal", &[("wal_sync", 100.0), ("wal_sync_time_ms", 410.0)]).finds_nothing(look);
    }
}
