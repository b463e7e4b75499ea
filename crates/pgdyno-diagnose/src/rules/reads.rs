//! Blocks of tables and indexes are read from outside shared buffers.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_samples::{bgwriter, database};
use pgdyno_text::brief::{duration, number, percent};
use pgdyno_text::units::mean_bytes;

use super::{SAMPLES_MIN, UNKNOWN, waited, with_settings};
use crate::blocks;
use crate::explained::Explained;
use crate::facts::Facts;
use crate::scans;
use crate::waits::Class;

/// Without waits for reads, a smaller share of hits than this is a finding.
const HIT_RATIO_MIN: f64 = 0.9;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let waited = waited(facts, "reads", Class::DataRead, "waiting for blocks that were not in shared buffers");
    let (reads, hits) = (facts.rate(database::BLKS_READ), facts.rate(database::BLKS_HIT));
    let sampled = reads.zip(hits).filter(|(reads, hits)| reads + hits > 0.0).map(|(reads, hits)| hits / (reads + hits));
    let ratio = facts.summary.cache_hit_ratio.or(sampled);
    let missed = missed(ratio.filter(|_| facts.waits.looks >= SAMPLES_MIN));
    let mut found = match (waited, missed) {
        (Some(waited), Some(missed)) => {
            let evidence = waited.evidence.into_iter().chain([waited.text]).collect();
            FindingRecord { evidence, text: missed.text, ..waited }
        }
        (waited, missed) => waited.or(missed)?,
    };
    if let Some(ratio) = ratio {
        found.evidence.push(format!("{:.2} % of block reads hit shared buffers", ratio * 100.0));
    }
    if let Some(reads) = reads.filter(|reads| *reads > 0.0) {
        let ms = facts.rate(database::BLK_READ_TIME_MS).filter(|ms| *ms > 0.0);
        let each = ms.map_or_else(String::new, |ms| format!(", {} each", duration(ms / 1e3 / reads)));
        found.evidence.push(format!("{} blocks a second from outside{each}", number(reads)));
    }
    if let Some(ratio) = facts.summary.os_cache_hit_ratio {
        found.evidence.push(format!("at least {} of these were in the system's file cache", percent(ratio)));
    }
    let data = facts.record.server.as_ref().and_then(|server| server.database_bytes).map(|n| n as f64);
    let buffers = facts.setting_bytes("shared_buffers");
    if let Some((data, buffers)) = data.zip(buffers) {
        found.evidence.push(format!("the database has {}, shared buffers {}", mean_bytes(data), mean_bytes(buffers)));
    }
    let fits = data.zip(buffers).is_some_and(|(data, buffers)| data <= buffers);
    found.advice = if fits {
        Some("warm up for longer (--ramp), or give --prewarm: the data fits into shared buffers".to_owned())
    } else {
        with_settings(facts, "raise shared_buffers, or use a faster disk", &["shared_buffers"])
    };
    Some(found)
}

/// Returns the blocks a second from outside shared buffers, without those that sequential scans read.
fn looked_up(facts: &Facts<'_>) -> Option<f64> {
    let scanned = scans::share_of_reads(facts).unwrap_or_default();
    facts.rate(database::BLKS_READ).map(|reads| reads * (1.0 - scanned))
}

/// Blocks that the system's file cache has are copied by the session that wants them.
pub(crate) fn of_cpu(facts: &Facts<'_>) -> Option<Explained> {
    let share = (blocks::copying_cpus(looked_up(facts)?) / facts.cpus_of_clients()).min(1.0);
    Some(Explained { share, certainty: Certainty::Consistent })
}

/// A session that needs a buffer and finds a changed one writes it first: reads explain as many of these writes as they took of the
/// buffers.
pub(crate) fn of_writes(facts: &Facts<'_>) -> Option<Explained> {
    let allocated = facts.rate(bgwriter::BUFFERS_ALLOC).filter(|allocated| *allocated > 0.0)?;
    let writes = facts.waits.share_of_class(Class::DataWrite, |event| event == "datafilewrite");
    let share = writes * (looked_up(facts)? / allocated).min(1.0);
    Some(Explained { share, certainty: Certainty::Consistent })
}

/// A block that takes the place of another one changes the mapping of buffers, for which other lookups wait.
pub(crate) fn of_internal_locks(facts: &Facts<'_>) -> Option<Explained> {
    let scanned = scans::share_of_reads(facts).unwrap_or_default();
    let share = mapping(facts) * (1.0 - scanned);
    Some(Explained { share, certainty: Certainty::Consistent })
}

/// Returns the share that the mapping of buffers has of the waits for internal locks.
pub(super) fn mapping(facts: &Facts<'_>) -> f64 {
    // Until 13 it was buffer_mapping.
    facts.waits.share_of_class(Class::Internal, |event| matches!(event, "buffermapping" | "buffer_mapping"))
}

/// The finding that blocks come from outside shared buffers without waits above the minimum share: the system's file cache
/// answers, and its copying is CPU time.
fn missed(hit_ratio: Option<f64>) -> Option<FindingRecord> {
    hit_ratio.filter(|ratio| *ratio < HIT_RATIO_MIN).map(|hit_ratio| FindingRecord {
        rule: "reads".to_owned(),
        text: format!("{} of all blocks came from outside shared buffers", percent(1.0 - hit_ratio)),
        weight: UNKNOWN,
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run() -> Run {
        let mut run = Run::new()
            .waits(&[("IO", "DataFileRead", 4.0), ("CPU", "CPU", 1.0)])
            .counters("database", &[("blks_read", 1000.0), ("blks_hit", 9000.0), ("blk_read_time_ms", 200.0)])
            .setting("shared_buffers", "128MB");
        run.summary().os_cache_hit_ratio = Some(0.5);
        run
    }

    #[test]
    fn misses_are_reported_with_the_size_of_the_data() {
        let mut large = run();
        large.record.server.as_mut().unwrap().database_bytes = Some(1 << 30);
        let found = large.finds(look);
        assert_eq!(
            found.evidence[1..],
            [
                "90.00 % of block reads hit shared buffers",
                "1,000 blocks a second from outside, 0.2 ms each",
                "at least 50 % of these were in the system's file cache",
                "the database has 1.0 GiB, shared buffers 128.0 MiB"
            ]
        );
        assert!(found.advice.unwrap().contains("raise shared_buffers, or use a faster disk (shared_buffers is 128MB)"));
        let mut small = run();
        small.record.server.as_mut().unwrap().database_bytes = Some(1 << 20);
        assert!(small.finds(look).advice.unwrap().contains("--prewarm"));
    }

    #[test]
    fn misses_for_which_nobody_waits_are_seen_where_they_are_many() {
        let mut busy = run().waits(&[("CPU", "CPU", 5.0)]);
        busy.finds_nothing(look);
        busy.summary().cache_hit_ratio = Some(0.6);
        let found = busy.finds(look);
        assert!(found.also_seen && found.text.starts_with("40 % of all blocks"), "{found:?}");
        Run::new().finds_nothing(look);
    }
}
