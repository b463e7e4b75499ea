//! A run in progress: whether it goes on, and its latest data.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use pgdyno_samples::SampleSource;

use crate::error::{StoreError, io_error, malformed};
use crate::interval::IntervalRecord;
use crate::layout::{GROUP_INTERVALS, INTERVALS, LATENCY};
use crate::samples::{DIRECTORY, SampleTable, Samples};
use crate::store::open_beside;
use crate::timeline::{self, GroupTimeline};

/// On a file system without locks, a run with intervals this recent goes on.
const FRESH: Duration = Duration::from_secs(10);

/// Size of a file's end that is read at first; it doubles until it reaches back far enough.
const TAIL_BYTES: u64 = 32 << 10;

/// Returns true if the run in `directory` goes on: the process that records it holds a lock, which ends with the
/// process. A run of an older pgdyno, which had no lock, counts as ended.
#[must_use]
pub fn goes_on(directory: &Path) -> bool {
    let held = directory.join(LATENCY);
    // Opening a pipe would wait for its other end.
    let ordinary = fs::symlink_metadata(&held).is_ok_and(|there| there.is_file());
    let Some(file) = ordinary.then(|| File::open(held).ok()).flatten() else { return false };
    match file.try_lock_shared() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => {
            let written = fs::metadata(directory.join(INTERVALS)).and_then(|file| file.modified());
            written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < FRESH))
        }
    }
}

/// The latest data of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveData {
    /// The last interval, independent of the time asked for; absent before the first has ended.
    pub last: Option<IntervalRecord>,
    /// Intervals, in their order.
    pub intervals: Vec<IntervalRecord>,
    /// The same of each group of clients, where they are kept by group; with those of later stages.
    pub groups: Vec<GroupTimeline>,
    /// Samples of the sources asked for.
    pub samples: Samples,
}

/// Reads data of the run in `directory` after `since_s`, in seconds since the clients began: intervals that ended
/// later, and later samples of `sources`. Reads only the ends of the files, so that watching a long run costs no more
/// than watching a short one. Cells of the sources must not contain line ends.
///
/// # Errors
/// When a file that is there cannot be read, or is none of ours.
pub fn read_latest(directory: &Path, since_s: f64, sources: &[SampleSource]) -> Result<LiveData, StoreError> {
    let file = directory.join(INTERVALS);
    let parsed = tail(directory, INTERVALS, |text| {
        let intervals = timeline::parse(text).map_err(|why| malformed(&file, why))?;
        Ok((intervals.first().is_some_and(|first| first.end_s <= since_s), intervals))
    })?;
    let intervals = parsed.unwrap_or_default();
    let last = intervals.last().cloned();
    let mut latest = LiveData { last, intervals, ..LiveData::default() };
    latest.intervals.retain(|interval| interval.end_s > since_s);
    let file = directory.join(GROUP_INTERVALS);
    let groups = tail(directory, GROUP_INTERVALS, |text| {
        let groups = timeline::parse_groups(text).map_err(|why| malformed(&file, why))?;
        // Lines are in the order of time: the first is of the first group.
        let first = groups.first().and_then(|group| group.intervals.first());
        Ok((first.is_some_and(|first| first.end_s <= since_s), groups))
    })?;
    for mut group in groups.unwrap_or_default() {
        group.intervals.retain(|interval| interval.end_s > since_s);
        latest.groups.extend((!group.intervals.is_empty()).then_some(group));
    }
    for source in sources {
        let name = format!("{DIRECTORY}/{}.csv", source.name);
        let file = directory.join(&name);
        let parsed = tail(directory, &name, |text| {
            let table = SampleTable::parse(text.as_bytes())
                .ok_or_else(|| malformed(&file, "its first column is not a moment".to_owned()))?;
            Ok((table.rows().first().is_some_and(|(at_s, _)| *at_s <= since_s), table))
        })?;
        if let Some(table) = parsed {
            latest.samples.insert(source.name, table.after(since_s));
        }
    }
    Ok(latest)
}

/// Returns the header of a table and its last lines, parsed, as many as `parse` needs to reach back far enough.
/// Returns `None` without such a file.
fn tail<T>(
    directory: &Path,
    name: &str,
    parse: impl Fn(&str) -> Result<(bool, T), StoreError>,
) -> Result<Option<T>, StoreError> {
    let path = &directory.join(name);
    let mut file = match open_beside(directory, name) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(io_error("read", path))?,
    };
    let length = file.metadata().map_err(io_error("read", path))?.len();
    let mut bytes = if length < 2 * TAIL_BYTES { length } else { TAIL_BYTES };
    loop {
        let text = ends(&mut file, length, bytes).map_err(io_error("read", path))?;
        let (reaches, parsed) = parse(&text)?;
        if reaches || bytes >= length {
            return Ok(Some(parsed));
        }
        // If most is read, read all: so a tail never begins within the header.
        bytes = if bytes >= length / 4 { length } else { bytes * 2 };
    }
}

/// Returns the first line of a file, and the complete lines in its last `bytes`, which are the whole file or leave
/// out more than a header.
fn ends(file: &mut File, length: u64, bytes: u64) -> io::Result<String> {
    let mut text = Vec::new();
    let from = length.saturating_sub(bytes);
    file.seek(SeekFrom::Start(0))?;
    if from == 0 {
        file.take(length).read_to_end(&mut text)?;
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
    // A header has a few hundred bytes.
    file.take(TAIL_BYTES.min(from)).read_to_end(&mut text)?;
    let after_header = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
    text.truncate(after_header);
    file.seek(SeekFrom::Start(from))?;
    let mut last = Vec::new();
    file.take(bytes).read_to_end(&mut last)?;
    let cut = last.iter().position(|byte| *byte == b'\n').map_or(last.len(), |at| at + 1);
    text.extend_from_slice(&last[cut..]);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use pgdyno_samples::{machine, waits};

    use super::*;
    use crate::{RunDir, SampleFiles};

    fn run(results: &Path) -> RunDir {
        RunDir::create(results, "20260101T000000Z-x-aaaaaa", &[], std::time::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn a_run_goes_on_until_its_process_lets_go() {
        let results = tempfile::tempdir().unwrap();
        let directory = run(results.path());
        let path = directory.path().to_owned();
        assert!(goes_on(&path));
        drop(directory);
        assert!(!goes_on(&path) && !goes_on(results.path()));
    }

    #[test]
    fn the_latest_is_all_there_is_of_the_time_that_is_asked_for() {
        let results = tempfile::tempdir().unwrap();
        let directory = run(results.path());
        let mut samples = SampleFiles::of_run(directory.path());
        let mut text = fs::read_to_string(directory.path().join("intervals.csv")).unwrap();
        for second in 0..3000 {
            let _ = writeln!(text, "{second},measure,{second}.0,{}.0,7,7,7,0,0,0,0,0,0,1,,,,,,,,,,0.5,", second + 1);
            for event in ["WALWrite", "CPU"] {
                let row = vec![vec![Some(event.to_owned()), Some("3".to_owned())]];
                samples.append("waits", f64::from(second) + 1.0, &["wait_event", "samples"], &row);
            }
        }
        text += "3000,measure,3000.0,300";
        fs::write(directory.path().join("intervals.csv"), &text).unwrap();
        assert!(text.len() as u64 > 4 * TAIL_BYTES, "the test is to need several turns");
        for (since_s, left) in [(2995.0, 5), (2000.5, 1000), (0.5, 3000), (-1.0, 3000), (3000.0, 0)] {
            let latest = read_latest(directory.path(), since_s, &[waits::SOURCE, machine::SOURCE]).unwrap();
            let end_s = latest.last.map(|last| last.end_s);
            assert_eq!((latest.intervals.len(), end_s), (left, Some(3000.0)), "{since_s}");
            let seen = latest.samples.of(waits::SOURCE);
            assert_eq!(seen.rows().len(), 2 * latest.intervals.len(), "{since_s}");
            assert!(seen.rows().iter().all(|(at_s, _)| *at_s > since_s));
            assert!(latest.samples.of(machine::SOURCE).is_empty());
        }
    }

    #[test]
    fn a_run_that_has_not_begun_has_nothing() {
        let results = tempfile::tempdir().unwrap();
        let nothing = read_latest(results.path(), 0.0, &[waits::SOURCE]).unwrap();
        assert_eq!(nothing, LiveData::default());
        fs::write(results.path().join("intervals.csv"), "a,b\n1,2\n").unwrap();
        let error = read_latest(results.path(), 0.0, &[]).unwrap_err().to_string();
        assert!(error.contains("intervals.csv") && error.contains("no column phase"), "{error}");
    }
}
