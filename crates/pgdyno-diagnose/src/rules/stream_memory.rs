//! Sorts and hashes of streams of queries do not fit into the memory of their sessions.

use pgdyno_results::FindingRecord;
use pgdyno_samples::{database, machine};
use pgdyno_text::brief::{number, percent};
use pgdyno_text::units::mean_bytes;

use super::{SAMPLES_MIN, SHARE_MIN, UNKNOWN, share};
use crate::facts::Facts;
use crate::streams::Streams;
use crate::waits::Class;

/// Less than this for each query is nothing, unless the streams wait for it.
const BYTES_EACH_MIN: f64 = 1024.0 * 1024.0;

/// Memory that the streams' sessions may use: `work_mem` once in each process.
pub(super) struct Allowed {
    /// Bytes, if each process has one sort or hash.
    pub(super) bytes: f64,
    /// `each of 2 streams and their 4 parallel workers may use work_mem (4MB) …`.
    pub(super) words: String,
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let streams = facts.streams?;
    // Where the clients wait for them, temporary files are theirs.
    if share(facts, Class::TempFile).is_some() {
        return None;
    }
    let written = facts.rate(database::TEMP_BYTES)?;
    let each = written * facts.seconds() / streams.completed().max(1.0);
    let waited = facts.waits.streams.sessions(Class::TempFile) / streams.number();
    let is_waited_for = facts.waits.looks >= SAMPLES_MIN && waited >= SHARE_MIN;
    if written <= 0.0 || !(is_waited_for || each >= BYTES_EACH_MIN) {
        return None;
    }
    let files = facts.rate(database::TEMP_FILES).unwrap_or_default();
    let mut evidence = vec![
        format!("{} in {} files a second", mean_bytes(written), number(files)),
        format!("the streams waited for them {} of their time", percent(waited.min(1.0))),
    ];
    let allowed = allowed(facts, streams);
    if let Some(allowed) = &allowed {
        let free = facts.gauge(machine::AVAILABLE_BYTES);
        let free = free.map_or_else(String::new, |free| format!("; the machine had {} available", mean_bytes(free)));
        evidence.push(format!("{}{free}", allowed.words));
    }
    Some(FindingRecord {
        rule: "stream-memory".to_owned(),
        text: format!(
            "sorts and hashes of the streams' queries did not fit into work_mem: {} of temporary files for each query that ended",
            mean_bytes(each)
        ),
        weight: UNKNOWN,
        evidence,
        advice: Some(format!(
            "raise work_mem for the streams alone, as far as memory allows: --analytics-set work_mem=…{}",
            facts.streams_setting("work_mem").map_or_else(String::new, |value| format!(" (work_mem is {value})"))
        )),
        also_seen: true,
        ..FindingRecord::default()
    })
}

/// Returns what the streams' sessions may use; `None` where their settings are not known.
pub(super) fn allowed(facts: &Facts<'_>, streams: Streams<'_>) -> Option<Allowed> {
    let value = facts.streams_setting("work_mem")?;
    let each = pgdyno_text::parse::bytes(value).ok()? as f64;
    let most = facts.streams_setting("max_parallel_workers").and_then(|n| n.parse().ok()).unwrap_or(f64::INFINITY);
    let workers = (streams.number() * facts.streams_workers_each()?).min(most);
    // A hash may use a multiple.
    let for_hashes = facts.streams_setting("hash_mem_multiplier").and_then(|n| n.parse::<f64>().ok()).unwrap_or(1.0);
    let bytes_all = each * for_hashes.max(1.0) * (streams.number() + workers);
    let with = if workers > 0.0 { format!(" and up to {workers} parallel workers") } else { String::new() };
    Some(Allowed {
        bytes: bytes_all,
        words: format!(
            "{}{with} may each use work_mem ({value}) for every sort{}: {} with one in each",
            streams.in_words(),
            match for_hashes > 1.0 {
                true => format!(", and {for_hashes} times that (hash_mem_multiplier) for every hash"),
                false => " and hash".to_owned(),
            },
            mean_bytes(bytes_all)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    const MIB: f64 = 1024.0 * 1024.0;

    fn run(bytes_a_second: f64) -> Run {
        Run::new()
            .streams(2, &[("q1", "select 1 as a"), ("q18", "select 18 as b")])
            .waits_of(&[("client backend", "CPU", "CPU", 1.0), ("query stream", "IO", "BufFileWrite", 0.5)])
            .counters("database", &[("temp_files", 3.0), ("temp_bytes", bytes_a_second)])
            .gauges("machine", &[("available_bytes", 512.0 * MIB)])
            .setting("work_mem", "4MB")
            .setting("max_parallel_workers", "8")
            .setting("max_parallel_workers_per_gather", "2")
    }

    #[test]
    fn temporary_files_are_reported_by_query_with_the_memory_that_streams_may_use() {
        let found = run(10.0 * MIB).finds(look);
        assert!(found.text.ends_with("5.0 MiB of temporary files for each query that ended"), "{found:?}");
        assert_eq!(
            found.evidence,
            [
                "10.0 MiB in 3.0 files a second",
                "the streams waited for them 25 % of their time",
                "2 streams and up to 4 parallel workers may each use work_mem (4MB) for every sort and hash: 24.0 MiB with \
                 one in each; the machine had 512.0 MiB available"
            ]
        );
        assert!(found.advice.unwrap().ends_with("--analytics-set work_mem=… (work_mem is 4MB)"));
        let found = run(10.0 * MIB).setting("hash_mem_multiplier", "2").finds(look);
        let words = "for every sort, and 2 times that (hash_mem_multiplier) for every hash: 48.0 MiB with one in each";
        assert!(found.evidence[2].contains(words), "{found:?}");
    }

    #[test]
    fn the_settings_of_the_streams_own_sessions_count() {
        let mut run = run(10.0 * MIB);
        run.record.plan.drive.analytics.settings = [("work_mem", "64kB"), ("max_parallel_workers_per_gather", "0")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let found = run.finds(look);
        assert!(found.evidence[2].starts_with("2 streams may each use work_mem (64kB)"), "{found:?}");
        assert!(found.advice.unwrap().ends_with("(work_mem is 64kB)"));
    }

    #[test]
    fn without_streams_or_files_or_where_clients_wait_it_is_nothing() {
        run(0.0).finds_nothing(look);
        run(10.0 * MIB)
            .waits_of(&[("client backend", "IO", "BufFileWrite", 4.0), ("query stream", "IO", "BufFileWrite", 0.5)])
            .finds_nothing(look);
        Run::new().counters("database", &[("temp_files", 3.0), ("temp_bytes", 99.0 * MIB)]).finds_nothing(look);
    }
}
