//! The run directory and the list of results beside it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use pgdyno_measure::Interval;
use pgdyno_untrusted::{Directory, FileName, directory_of, replace_file};
use pgdyno_workload::{Stage, has_groups};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{StoreError, io_error};
use crate::file_name::relative;
use crate::hlog;
use crate::interval::IntervalRecord;
use crate::interval::csv::{GroupIntervalsCsv, IntervalsCsv};
use crate::layout::{GROUP_INTERVALS, INTERVALS, LATENCY, RECORD, input_path};
use crate::listing;
use crate::record::{FORMAT_VERSION, RunRecord};

/// The directory of one run that is being written.
///
/// Files are appended to or replaced as a whole: whatever happens to pgdyno or the disk, what was written before
/// stays readable.
#[derive(Debug)]
pub struct RunDir {
    directory: Directory,
    path: PathBuf,
    results: PathBuf,
    intervals: IntervalsCsv,
    group_intervals: Option<GroupIntervalsCsv>,
    latency: File,
    txns: Vec<String>,
    /// The first failure to write; the run goes on without its record.
    failure: Option<String>,
}

/// Room that a run needs to begin: a record without figures, and headers.
const PROBE_BYTES: usize = 64 << 10;

/// Checks that runs can be stored in `results`, which need not exist yet. Called before anything is loaded.
///
/// # Errors
/// When the system refuses.
pub fn admit(results: &Path) -> Result<(), StoreError> {
    let refused = |source| StoreError::Unwritable { path: results.to_owned(), source };
    // A run that cannot start leaves no empty directory: the nearest existing one is tried.
    let absolute = std::path::absolute(results).map_err(refused)?;
    let there = absolute.ancestors().find(|path| path.exists()).unwrap_or(&absolute);
    Directory::open(there).and_then(|directory| directory.probe(PROBE_BYTES)).map_err(refused)
}

/// Checks that a file can be written at `path` after the run. Called before the run; an existing file stays as it is.
///
/// # Errors
/// When the system refuses, or a record of a newer format is there.
pub fn admit_file(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Err(io_error("write", path)(io::ErrorKind::IsADirectory.into()));
    }
    if !is_replaced(path) {
        // A device, or a pipe whose reader may come later.
        return Ok(());
    }
    if let Err(newer @ StoreError::Newer { .. }) = read_record(path) {
        return Err(newer);
    }
    let target = target(path);
    let probed = Directory::open(directory_of(&target)).and_then(|directory| directory.probe(PROBE_BYTES));
    probed.map_err(io_error("write", path))?;
    match OpenOptions::new().append(true).open(&target) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(io_error("write", path)(e)),
        _ => Ok(()),
    }
}

/// Returns true if the file at `path` is replaced as a whole: it does not exist, or is an ordinary file. Devices and
/// pipes are written to.
fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |there| there.is_file())
}

/// Returns the target of a link: it is the file that is replaced, not the link.
fn target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl RunDir {
    /// Returns the directory of all runs.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.results
    }

    /// Creates `results/id/`, which must not be there, with its files. `txns` names the transactions for `latency.hlog`.
    ///
    /// # Errors
    /// When the directory or a file cannot be created.
    pub fn create(
        results: &Path,
        id: &str,
        txns: &[String],
        started: std::time::SystemTime,
    ) -> Result<Self, StoreError> {
        let path = results.join(id);
        let create = || {
            let name = FileName::parse(id).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
            fs::create_dir_all(results)?;
            Directory::open(results)?.create_new_child(&name)
        };
        let directory = create().map_err(io_error("create the run directory", &path))?;
        let intervals = IntervalsCsv::begin(new_file(&directory, INTERVALS)?, &path.join(INTERVALS))?;
        let header = hlog::header(started).map_err(io_error("write", &path))?;
        let latency_path = path.join(LATENCY);
        let mut latency = new_file(&directory, LATENCY)?;
        // The lock shows that the run goes on. It has no effect on a file system without locks.
        let _ = latency.lock();
        latency.write_all(&header).map_err(io_error("write", &latency_path))?;
        let (results, txns) = (results.to_owned(), txns.to_vec());
        Ok(Self { directory, results, path, intervals, group_intervals: None, latency, txns, failure: None })
    }

    /// Also writes the intervals by stage and group, if the workload declares any.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn with_stages(mut self, stages: &[Stage]) -> Result<Self, StoreError> {
        if has_groups(stages) {
            let (file, path) = (new_file(&self.directory, GROUP_INTERVALS)?, self.path.join(GROUP_INTERVALS));
            self.group_intervals = Some(GroupIntervalsCsv::begin(file, &path, stages)?);
        }
        Ok(self)
    }

    /// Writes files of the workload that are not part of the record: their hashes and bytes.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn with_inputs(self, inputs: &[(String, &[u8])]) -> Result<Self, StoreError> {
        for (sha256, bytes) in inputs {
            if let Some(path) = input_path(Path::new(""), sha256) {
                write_inside(&self.path, &path.to_string_lossy(), bytes)?;
            }
        }
        Ok(self)
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a finished interval, with the rate that was offered in it where that changes; one of a later stage only to the file by
    /// stage and group. A failure does not end the run; [`RunDir::failure`] returns it.
    pub fn interval(&mut self, interval: &Interval, offered_per_s: Option<f64>) {
        let by_group = self.group_intervals.as_mut().map_or(Ok(()), |groups| groups.interval(interval));
        let written = by_group.and_then(|()| {
            // The first stage gives the run its figures.
            if interval.stage > 0 {
                return Ok(());
            }
            self.intervals.interval(&IntervalRecord { offered_per_s, ..IntervalRecord::from(interval) });
            self.latency.write_all(&hlog::lines(interval, &self.txns)?)
        });
        if self.failure.is_none() {
            let failed = match (self.intervals.failure(), written) {
                (Some(e), _) => Some(e.to_string()),
                (None, written) => written.err().map(|e| e.to_string()),
            };
            self.failure = failed.map(|e| format!("intervals could not be written to {}: {e}", self.path.display()));
        }
    }

    /// Returns the first failure to write an interval.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Writes `run.json` as a whole, or leaves the old one.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn record(&self, record: &RunRecord) -> Result<(), StoreError> {
        write_inside(&self.path, RECORD, &json(&self.path.join(RECORD), record)?)
    }

    /// Appends the run's line to `results.csv`; see [`crate::list_run`].
    ///
    /// # Errors
    /// When the system refuses.
    pub fn list(&self, record: &RunRecord) -> Result<(), StoreError> {
        listing::list_run(&self.results, record)
    }
}

/// Creates a file of a run directory.
fn new_file(directory: &Directory, name: &str) -> Result<File, StoreError> {
    let path = directory.path().join(name);
    relative(name).and_then(|name| directory.create_new(&name)).map_err(io_error("create", &path))
}

/// Writes a record to a file that the user named, as a whole or not at all. Leaves a file of a newer format alone; writes
/// directly to a device or a pipe.
///
/// # Errors
/// When the system refuses, or a newer record is there.
pub fn write_record(path: &Path, record: &RunRecord) -> Result<(), StoreError> {
    if is_replaced(path)
        && let Err(newer @ StoreError::Newer { .. }) = read_record(path)
    {
        return Err(newer);
    }
    write_whole(path, &json(path, record)?)
}

/// Writes a file that the user named as a whole, or leaves the old one. Follows a link; writes directly to a device or a pipe.
///
/// # Errors
/// When the system refuses.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    if !is_replaced(path) {
        return fs::write(path, content).map_err(io_error("write", path));
    }
    replace_file(&target(path), |file| write_synced(file, content)).map_err(io_error("write", path))
}

/// Writes a file of this name in a directory as a whole, or leaves the old one, and creates the directories above it. A
/// link in its place is replaced, not followed.
///
/// # Errors
/// When the name leads out of the directory, or the system refuses.
pub fn write_inside(directory: &Path, name: &str, content: &[u8]) -> Result<(), StoreError> {
    let write = || {
        let name = relative(name)?;
        fs::create_dir_all(directory)?;
        Directory::open(directory)?.write_with(&name, |file| write_synced(file, content))
    };
    write().map_err(io_error("write", &directory.join(name)))
}

fn write_synced(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.write_all(content)?;
    file.sync_all()
}

/// Writes a record of several runs, or another JSON file, as [`write_inside`] does.
///
/// # Errors
/// When the system refuses.
pub fn write_json(directory: &Path, name: &str, record: &impl Serialize) -> Result<(), StoreError> {
    write_inside(directory, name, &json(&directory.join(name), record)?)
}

/// Returns the JSON of a record.
fn json(path: &Path, record: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let json = serde_json::to_string_pretty(record)
        .map_err(|e| StoreError::Malformed { path: path.to_owned(), why: e.to_string() })?;
    Ok((json + "\n").into_bytes())
}

/// The largest file of a run that is read, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// The largest record that is read, in bytes.
const RECORD_BYTES_MAX: u64 = 256 << 20;

/// Opens a file beside a record: an ordinary one, not a link.
pub(crate) fn open_beside(directory: &Path, name: &str) -> io::Result<File> {
    Directory::open(directory)?.open_file(&relative(name)?)
}

/// Reads a file of this name in the directory of a record: an ordinary one, not a link.
///
/// # Errors
/// When it is something else, too large, or the system refuses.
pub fn read_beside(directory: &Path, name: &str) -> io::Result<Vec<u8>> {
    Directory::open(directory)?.read(&relative(name)?, FILE_BYTES_MAX)
}

/// Reads a text beside a record, as [`open_beside`] opens it.
pub(crate) fn read_text_beside(directory: &Path, name: &str) -> io::Result<String> {
    read_text_beside_at_most(directory, name, FILE_BYTES_MAX)
}

/// Reads a text of at most `bytes_max` beside a record, as [`open_beside`] opens it.
pub(crate) fn read_text_beside_at_most(directory: &Path, name: &str, bytes_max: u64) -> io::Result<String> {
    let content = Directory::open(directory)?.read(&relative(name)?, bytes_max)?;
    String::from_utf8(content).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads the file at a path that a record names, or that is a record: an ordinary file of bounded size. A pipe or a device may
/// never end.
///
/// # Errors
/// When it is something else, too large, or the system refuses.
pub fn read_ordinary(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file"));
    }
    let mut content = Vec::new();
    File::open(path)?.take(RECORD_BYTES_MAX + 1).read_to_end(&mut content)?;
    match content.len() as u64 > RECORD_BYTES_MAX {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {RECORD_BYTES_MAX} bytes"))),
        false => Ok(content),
    }
}

/// Reads the text of a record.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_ordinary(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a record.
///
/// # Errors
/// When it cannot be read, is no record, or has a newer format.
pub fn read_record(path: &Path) -> Result<RunRecord, StoreError> {
    read_versioned(path)
}

/// Reads a record of any kind.
pub(crate) fn read_versioned<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    parse_record(path, &read_text(path).map_err(io_error("read", path))?)
}

/// Parses the text of the record at `path`.
pub(crate) fn parse_record<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, StoreError> {
    let malformed = |why: String| StoreError::Malformed { path: path.to_owned(), why };
    let value: serde_json::Value = serde_json::from_str(text).map_err(|e| malformed(e.to_string()))?;
    let version = value.get("format_version").and_then(serde_json::Value::as_u64);
    match version.ok_or_else(|| malformed("it has no format_version".to_owned()))? {
        found if found > u64::from(FORMAT_VERSION) => Err(StoreError::Newer { path: path.to_owned(), found }),
        _ => serde_json::from_value(value).map_err(|e| malformed(e.to_string())),
    }
}

/// Returns how many places from the end `last` or `last-N` is; `None` of another name.
pub(crate) fn places_back(name: &str) -> Option<usize> {
    if name == "last" { Some(0) } else { name.strip_prefix("last-").and_then(|n| n.parse().ok()) }
}

/// Returns the path that `name` is the beginning or end of, the last for `last`, the one N before it for `last-N`; `None`
/// without one.
///
/// # Errors
/// When there are several.
pub(crate) fn named<'a>(
    paths: &'a [PathBuf],
    name: &str,
    named: impl Fn(&Path) -> String,
) -> Result<Option<&'a PathBuf>, StoreError> {
    if let Some(back) = places_back(name) {
        return Ok(paths.iter().rev().nth(back));
    }
    let mut fitting = paths.iter().filter(|path| named(path).starts_with(name) || named(path).ends_with(name));
    match (fitting.next(), fitting.next()) {
        (Some(a), Some(b)) => {
            Err(StoreError::Malformed { path: name.into(), why: format!("it could be {} or {}", named(a), named(b)) })
        }
        (path, _) => Ok(path),
    }
}

/// Returns true if a directory has a record, and not a link in its place.
fn has_record(path: &Path) -> bool {
    fs::symlink_metadata(path.join(RECORD)).is_ok_and(|there| there.is_file())
}

/// Returns the run directories in `results`, oldest first.
///
/// # Errors
/// When `results` cannot be read; if it does not exist the list is empty.
pub fn list_runs(results: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(results) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io_error("read", results))?,
    };
    let mut runs: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|e| e.path())).filter(|path| has_record(path)).collect();
    runs.sort();
    // Names have a resolution of a second. Runs of the same second are sorted by their records.
    let second = |path: &Path| path.file_name().map(|name| name.to_string_lossy().chars().take(16).collect::<String>());
    for runs in runs.chunk_by_mut(|a, b| second(a) == second(b)).filter(|runs| runs.len() > 1) {
        runs.sort_by_cached_key(|path| {
            read_record(&path.join(RECORD)).ok().and_then(|r| r.started_at.parse::<jiff::Timestamp>().ok())
        });
    }
    Ok(runs)
}
