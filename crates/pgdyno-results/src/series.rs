//! A run interval by interval, read back from `intervals.csv` and `latency.hlog`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{StoreError, io_error, malformed};
use crate::hlog;
use crate::interval::IntervalRecord;
use crate::layout::{LATENCY, directory};
use crate::record::RunRecord;
use crate::store::read_beside;
use crate::timeline::read_intervals;

/// The measured window of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its intervals, in their order, and the transactions that completed in each.
    pub intervals: Vec<(IntervalRecord, Responses)>,
}

/// The transactions that completed in one interval, from `latency.hlog`; empty without that file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Responses {
    /// Number of transactions by kind, rolled-back ones included.
    pub completed: BTreeMap<String, u64>,
    /// Response times in nanoseconds, to three digits, and their counts.
    pub response_ns: Vec<(u64, u64)>,
}

impl Responses {
    /// Returns the number of transactions of these kinds; `None` without `latency.hlog`.
    #[must_use]
    pub fn completed_of(&self, transactions: &[String]) -> Option<u64> {
        let of = |name: &String| self.completed.get(name).copied().unwrap_or_default();
        (!self.completed.is_empty()).then(|| transactions.iter().map(of).fold(0, u64::saturating_add))
    }
}

/// Reads the intervals of the run whose record is at `path`: beside the record, or in its run directory in `results`,
/// or from the record itself. If none of them has any, the series is empty.
///
/// # Errors
/// When a file cannot be read or parsed.
pub fn read_series(path: &Path, record: &RunRecord, results: &Path) -> Result<Series, StoreError> {
    let Some(directory) = directory(path, record, results) else {
        return Ok(joined(record.intervals.clone(), BTreeMap::new()));
    };
    let intervals = read_intervals(&directory)?;
    let file = directory.join(LATENCY);
    let latencies = match read_beside(&directory, LATENCY) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
        bytes => responses(&bytes.map_err(io_error("read", &file))?).map_err(|why| malformed(&file, why))?,
    };
    Ok(joined(intervals, latencies))
}

fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}

/// The counts of one interval by tag.
type Tags = BTreeMap<String, Vec<(u64, u64)>>;

/// Returns response times by the start of their interval in milliseconds. For a transaction without response times,
/// its service times count.
pub(crate) fn responses(log: &[u8]) -> Result<BTreeMap<u64, Responses>, String> {
    let mut found: BTreeMap<u64, Responses> = BTreeMap::new();
    // The lines of an interval are consecutive.
    let (mut current, mut tags) = (0, Tags::new());
    hlog::read(log, |line| {
        let start_ms = milliseconds(line.start_s);
        if start_ms != current {
            found.insert(current, together(std::mem::take(&mut tags)));
            current = start_ms;
        }
        tags.entry(line.tag).or_default().extend(line.counts);
    })?;
    found.insert(current, together(tags));
    Ok(found)
}

fn together(mut tags: Tags) -> Responses {
    let kinds = tags.iter().filter(|(tag, _)| !tag.ends_with(hlog::RESPONSE));
    let completed = kinds
        .map(|(tag, counts)| (tag.clone(), counts.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))))
        .collect();
    let scheduled: Vec<String> =
        tags.keys().filter_map(|tag| tag.strip_suffix(hlog::RESPONSE)).map(str::to_owned).collect();
    tags.retain(|tag, _| !scheduled.contains(tag));
    let mut counts = BTreeMap::new();
    for (latency, count) in tags.into_values().flatten() {
        let sum: &mut u64 = counts.entry(latency).or_default();
        *sum = sum.saturating_add(count);
    }
    Responses { completed, response_ns: counts.into_iter().collect() }
}

/// Joins the measured ones of all intervals with their latencies. Both files round starts to a millisecond.
fn joined(intervals: Vec<IntervalRecord>, mut latencies: BTreeMap<u64, Responses>) -> Series {
    let join = |interval: IntervalRecord| {
        let start_ms = milliseconds(interval.start_s);
        let near = start_ms.saturating_sub(1)..=start_ms.saturating_add(1);
        let start = latencies.range(near).min_by_key(|(start, _)| start.abs_diff(start_ms)).map(|(at, _)| *at);
        (interval, start.and_then(|start| latencies.remove(&start)).unwrap_or_default())
    };
    Series { intervals: intervals.into_iter().filter(IntervalRecord::is_measured).map(join).collect() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use pgdyno_measure::{Interval, Phase, Recorder};

    /// Returns a run directory with a ramp of one interval and a window of two; scheduled runs have response times.
    fn run_directory(scheduled: bool) -> (tempfile::TempDir, PathBuf) {
        let results = tempfile::tempdir().unwrap();
        let txns = ["new-order".to_owned(), "my script".to_owned()];
        let mut directory =
            crate::RunDir::create(results.path(), "20260101T000000Z-x-aaaaaa", &txns, std::time::UNIX_EPOCH).unwrap();
        let mut recorder = Recorder::new(2, 0, scheduled);
        let phases = [Phase::Ramp, Phase::Measure, Phase::Measure, Phase::Drain];
        for (index, phase) in (0..).zip(phases) {
            for txn in 0..2 {
                recorder.started(txn);
                recorder.completed(txn, true, 1_000_000, 5_000_000 * (index + 1), false);
            }
            let start_ns = 1_000_400_000 * index;
            directory.interval(
                &Interval {
                    index,
                    stage: 0,
                    phase,
                    start_ns,
                    end_ns: start_ns + 1_000_400_000,
                    part: recorder.take(),
                    in_flight: 0,
                    workers: vec![],
                    groups: vec![],
                },
                None,
            );
        }
        let path = directory.path().join("run.json");
        (results, path)
    }

    fn record(id: &str) -> RunRecord {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        RunRecord { id: id.to_owned(), ..crate::read_record(&path).unwrap() }
    }

    #[test]
    fn the_measured_window_reads_back_with_its_response_times() {
        for (scheduled, slow_ns) in [(true, 10_000_000), (false, 1_000_000)] {
            let (results, path) = run_directory(scheduled);
            let series = read_series(&path, &record("20260101T000000Z-x-aaaaaa"), results.path()).unwrap();
            let (interval, first) = &series.intervals[0];
            assert_eq!((series.intervals.len(), interval.committed), (2, 2));
            assert_eq!(first.completed_of(&["new-order".to_owned()]), Some(1));
            assert!((interval.seconds() - 1.0004).abs() < 1e-9);
            let all: u64 = first.response_ns.iter().map(|(_, count)| count).sum();
            assert_eq!(all, 2, "service times of a transaction with response times do not count twice");
            assert!(first.response_ns.iter().all(|(ns, _)| ns.abs_diff(slow_ns) < slow_ns / 500), "{first:?}");
        }
    }

    #[test]
    fn a_record_elsewhere_finds_its_run_directory_and_no_other() {
        let (results, path) = run_directory(false);
        let elsewhere = path.with_file_name("base.json");
        let read = |path: &Path, id: &str| read_series(path, &record(id), results.path()).unwrap().intervals.len();
        assert_eq!(read(&elsewhere, "20260101T000000Z-x-aaaaaa"), 2);
        assert_eq!(read(Path::new("/nowhere/base.json"), "20260101T000000Z-x-aaaaaa"), 2);
        assert_eq!(read(&elsewhere, "another"), 0);
    }

    #[test]
    fn a_name_in_a_record_does_not_lead_out_of_the_results() {
        let (results, path) = run_directory(false);
        let (inner, elsewhere) = (results.path().join("inner"), Path::new("/nowhere/run.json"));
        fs::create_dir(&inner).unwrap();
        let own = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let (absolute, above) = (path.parent().unwrap().to_str().unwrap(), format!("../{own}"));
        let found = |results: &Path, id: &str| directory(elsewhere, &record(id), results);
        assert_eq!(found(results.path(), own), path.parent().map(Path::to_owned));
        for id in [absolute, &above, &format!("./{own}"), &format!("{own}/"), &format!("inner/../{own}"), "..", ".", ""]
        {
            assert_eq!(found(&inner, id), None, "{id}");
            assert_eq!(found(results.path(), id), None, "{id}");
        }
    }

    #[test]
    fn what_was_cut_off_ends_the_series_and_what_is_no_table_is_refused() {
        let (results, path) = run_directory(false);
        let file = path.with_file_name("intervals.csv");
        let text = fs::read_to_string(&file).unwrap();
        let read = || read_series(&path, &record("x"), results.path());
        fs::write(&file, &text[..text.rfind("drain").unwrap() - 10]).unwrap();
        assert_eq!(read().unwrap().intervals.len(), 1);
        fs::write(&file, "a,b\n1,2\n").unwrap();
        assert!(read().unwrap_err().to_string().contains("no column phase"));
        fs::write(&file, text.replace("measure", "measure,x")).unwrap();
        assert!(read().unwrap_err().to_string().contains("line 3"));
        fs::write(&file, text).unwrap();
        let log = path.with_file_name("latency.hlog");
        fs::write(&log, "#comment\nTag=a,1.000,1.000,1.000,AAAA\n").unwrap();
        assert!(read().unwrap_err().to_string().contains("latency.hlog"));
        fs::remove_file(&log).unwrap();
        assert!(read().unwrap().intervals.iter().all(|(_, responses)| responses.response_ns.is_empty()));
    }
}
