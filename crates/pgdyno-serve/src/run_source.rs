//! Reads the results directory, and nothing outside it: names are plain, and links are not followed, so that results of
//! another user can be viewed safely.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_results::{
    AbRecord, FrontierRecord, RECORD, Resumable as _, RunRecord, SearchRecord, StudyKind, TrustRecord, is_run_name,
    read_ordinary, read_record,
};
use serde::de::DeserializeOwned;

use crate::ServedRun;

/// Maximum depth of directories in a run directory: samples, and others.
const DEPTH_MAX: usize = 4;

/// A run of the list. Its record lacks what lists do not show.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// The name of its directory.
    pub(crate) id: String,
    /// Its record, or why it cannot be read.
    pub(crate) record: Result<Arc<RunRecord>, Arc<str>>,
    /// Whether it goes on.
    pub(crate) goes_on: bool,
}

impl Listed {
    /// Returns the kind and the name of the study that it is a run of.
    pub(crate) fn study(&self) -> Option<(StudyKind, &str)> {
        let place = self.record.as_ref().ok()?.plan.suite.as_ref()?;
        Some((StudyKind::of_run(place)?, &place.id))
    }
}

/// A measurement of many runs, or the name of its record and why it cannot be read.
pub(crate) type Found<R> = Result<R, (String, String)>;

/// Why a run cannot be opened.
#[derive(Debug, PartialEq)]
pub(crate) enum OpenError {
    /// There is no run of this name.
    Nothing,
    /// Its directory contains a link, a pipe or a device.
    Link(String),
    /// Its record cannot be read.
    Unreadable(String),
}

#[derive(Debug)]
pub(crate) struct RunSource {
    root: PathBuf,
    /// Records by the names of their runs, with the stamps of their files.
    known: Mutex<HashMap<String, Known>>,
}

#[derive(Debug)]
struct Known {
    stamp: Stamp,
    record: Result<Arc<RunRecord>, Arc<str>>,
}

/// Inode, length, and the time of the last change in seconds and nanoseconds.
type Stamp = (u64, u64, i64, i64);

fn stamp(file: &Metadata) -> Stamp {
    (file.ino(), file.len(), file.mtime(), file.mtime_nsec())
}

impl RunSource {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, known: Mutex::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory as a reader wants to see it.
    pub(crate) fn place(&self) -> String {
        self.root.display().to_string()
    }

    /// Returns all runs, the latest first. Records that have not changed are not read again.
    pub(crate) fn runs(&self) -> Result<Vec<Listed>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *known);
        let mut runs = Vec::new();
        for id in names(&self.root)? {
            let Ok(file) = fs::symlink_metadata(self.root.join(&id).join(RECORD)) else { continue };
            let now = match before.remove(&id) {
                Some(same) if same.stamp == stamp(&file) => same,
                _ => Known { stamp: stamp(&file), record: self.listed(&id, &file) },
            };
            let record = now.record.clone();
            let may_go_on = record.as_ref().is_ok_and(|record| record.ended_at.is_none());
            let goes_on = may_go_on && self.goes_on(&id);
            runs.push(Listed { id: id.clone(), record, goes_on });
            known.insert(id, now);
        }
        let began = |run: &Listed| {
            // A run without a record is sorted by its name.
            run.record.as_ref().map_or_else(|_| run.id.clone(), |record| in_order(&record.started_at))
        };
        runs.sort_by_cached_key(|run| std::cmp::Reverse((began(run), run.id.clone())));
        Ok(runs)
    }

    fn listed(&self, id: &str, file: &Metadata) -> Result<Arc<RunRecord>, Arc<str>> {
        if !file.is_file() {
            return Err("run.json is a link, and links are not followed".into());
        }
        let record = read_record(&self.root.join(id).join(RECORD)).map_err(|e| Arc::from(e.to_string()))?;
        // Records of 0.1.0 have none.
        let trust = TrustRecord::of_stored(&record);
        let lean = RunRecord {
            id: id.to_owned(),
            trust: Some(trust),
            statements: Vec::new(),
            query_plans: Vec::new(),
            intervals: Vec::new(),
            transactions: Vec::new(),
            findings: Vec::new(),
            events: Vec::new(),
            checks: Vec::new(),
            load: None,
            samples: None,
            ..record
        };
        Ok(Arc::new(lean))
    }

    /// Returns true if a run goes on.
    pub(crate) fn goes_on(&self, id: &str) -> bool {
        is_run_name(id) && pgdyno_results::goes_on(&self.root.join(id))
    }

    /// Opens a run to be read as a whole.
    pub(crate) fn open(&self, id: &str) -> Result<ServedRun, OpenError> {
        let directory = self.root.join(id);
        let there = |path: &Path| fs::symlink_metadata(path).ok();
        if !is_run_name(id) || there(&directory).is_none_or(|entry| entry.is_file()) {
            return Err(OpenError::Nothing);
        }
        let path = directory.join(RECORD);
        if !there(&directory).is_some_and(|entry| entry.is_dir()) {
            return Err(OpenError::Link(id.to_owned()));
        }
        there(&path).ok_or(OpenError::Nothing)?;
        ordinary(&directory, DEPTH_MAX)?;
        let record = read_record(&path).map_err(|e| OpenError::Unreadable(e.to_string()))?;
        // Other files are found by the id in the record, which may be that of another run.
        Ok(ServedRun { path, record: RunRecord { id: id.to_owned(), ..record } })
    }

    /// Returns all experiments, the latest first.
    pub(crate) fn experiments(&self) -> Result<Vec<Found<AbRecord>>, String> {
        let named = |id: &str, experiment| AbRecord { id: id.to_owned(), ..experiment };
        self.found(AbRecord::DIRECTORY, named, |experiment| &experiment.started_at)
    }

    /// Returns all searches, the latest first.
    pub(crate) fn searches(&self) -> Result<Vec<Found<SearchRecord>>, String> {
        let named = |id: &str, search| SearchRecord { id: id.to_owned(), ..search };
        self.found(SearchRecord::DIRECTORY, named, |search| &search.started_at)
    }

    /// Returns all frontiers, the latest first.
    pub(crate) fn frontiers(&self) -> Result<Vec<Found<FrontierRecord>>, String> {
        let named = |id: &str, frontier| FrontierRecord { id: id.to_owned(), ..frontier };
        self.found(FrontierRecord::DIRECTORY, named, |frontier| &frontier.started_at)
    }

    /// Returns the records of a directory, the latest first, each `named` by its file.
    fn found<R: DeserializeOwned>(
        &self,
        directory: &str,
        named: impl Fn(&str, R) -> R,
        started_at: impl Fn(&R) -> &str,
    ) -> Result<Vec<Found<R>>, String> {
        let place = self.root.join(directory);
        if !fs::symlink_metadata(&place).is_ok_and(|there| there.is_dir()) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for name in entries(&place)? {
            let Some(id) = name.strip_suffix(".json").filter(|id| is_run_name(id)) else { continue };
            let path = place.join(&name);
            if fs::symlink_metadata(&path).is_ok_and(|there| there.is_file()) {
                let content = read_ordinary(&path).map_err(|e| e.to_string());
                let record = content.and_then(|content| serde_json::from_slice(&content).map_err(|e| e.to_string()));
                found.push(record.map(|record| named(id, record)).map_err(|why| (id.to_owned(), why)));
            }
        }
        let began =
            |found: &Found<R>| found.as_ref().map_or_else(|(id, _)| id.clone(), |record| in_order(started_at(record)));
        found.sort_by_cached_key(|found| std::cmp::Reverse(began(found)));
        Ok(found)
    }
}

/// Normalises a time of RFC 3339 in UTC, with fractions of a second or without, so that texts sort by time.
fn in_order(moment: &str) -> String {
    moment.trim_end_matches('Z').to_owned()
}

/// Returns the names in a directory; none if it does not exist.
fn entries(place: &Path) -> Result<Vec<String>, String> {
    let entries = match fs::read_dir(place) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| format!("failed to read {}: {e}", place.display()))?,
    };
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
}

/// Returns the names of the directories that may be runs.
fn names(root: &Path) -> Result<Vec<String>, String> {
    let is_directory = |name: &String| fs::symlink_metadata(root.join(name)).is_ok_and(|entry| entry.is_dir());
    Ok(entries(root)?.into_iter().filter(|name| is_run_name(name)).filter(is_directory).collect())
}

/// Checks that a directory contains only regular files and such directories.
fn ordinary(directory: &Path, depth: usize) -> Result<(), OpenError> {
    let unreadable = |e: io::Error| OpenError::Unreadable(format!("failed to read {}: {e}", directory.display()));
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() && depth > 0 {
            ordinary(&entry.path(), depth - 1)?;
        } else if !kind.is_file() {
            return Err(OpenError::Link(entry.file_name().to_string_lossy().into_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn fixture() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json")
    }

    /// Returns a results directory with runs of these names. All have the same record, except for its start.
    fn results(runs: &[(&str, &str)]) -> (tempfile::TempDir, RunSource) {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("results");
        for (id, began) in runs {
            let mut record: serde_json::Value = serde_json::from_str(&fs::read_to_string(fixture()).unwrap()).unwrap();
            record["started_at"] = (*began).into();
            fs::create_dir_all(root.join(id)).unwrap();
            fs::write(root.join(id).join("run.json"), record.to_string()).unwrap();
        }
        (home, RunSource::new(root))
    }

    fn ids(source: &RunSource) -> Vec<String> {
        source.runs().unwrap().into_iter().map(|run| run.id).collect()
    }

    #[test]
    fn the_last_that_began_comes_first_and_a_missing_directory_is_empty() {
        let (_home, source) =
            results(&[("b", "2026-01-01T00:00:00Z"), ("a", "2026-01-01T00:00:00.5Z"), ("c", "2025-12-31T23:59:59.9Z")]);
        assert_eq!(ids(&source), ["a", "b", "c"]);
        let nowhere = RunSource::new("/nowhere/at/all".into());
        assert_eq!((ids(&nowhere).len(), nowhere.searches().unwrap().len()), (0, 0));
    }

    #[test]
    fn a_record_is_read_again_when_it_has_changed_and_forgotten_when_it_is_gone() {
        let (_home, source) = results(&[("a", "2026-01-01T00:00:00Z"), ("b", "2026-01-02T00:00:00Z")]);
        let first = source.runs().unwrap();
        let again = source.runs().unwrap();
        let same = |at: usize| Arc::ptr_eq(first[at].record.as_ref().unwrap(), again[at].record.as_ref().unwrap());
        assert!(same(0) && same(1));
        fs::write(source.root().join("a/run.json"), "{}").unwrap();
        fs::remove_dir_all(source.root().join("b")).unwrap();
        let changed = source.runs().unwrap();
        assert_eq!(changed.len(), 1);
        assert!(changed[0].record.as_ref().unwrap_err().contains("format_version"));
        assert_eq!(source.known.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_run_is_a_plain_name_in_the_directory() {
        let (home, source) = results(&[("a", "2026-01-01T00:00:00Z")]);
        fs::create_dir(home.path().join("outside")).unwrap();
        fs::copy(fixture(), home.path().join("outside/run.json")).unwrap();
        assert_eq!(source.open("a").unwrap().record.id, "a", "whatever the record calls itself");
        let outside = home.path().join("outside").display().to_string();
        for name in ["", ".", "..", "../outside", "a/../../outside", "..%2foutside", "a/", "a\0", "run.json", &outside]
        {
            assert_eq!(source.open(name).unwrap_err(), OpenError::Nothing, "{name}");
            assert!(!source.goes_on(name));
        }
    }

    #[test]
    fn links_and_pipes_are_not_followed() {
        let (home, source) = results(&[("a", "2026-01-01T00:00:00Z"), ("b", "2026-01-02T00:00:00Z")]);
        fs::copy(fixture(), home.path().join("run.json")).unwrap();
        symlink(home.path(), source.root().join("c")).unwrap();
        assert_eq!(ids(&source), ["b", "a"]);
        assert_eq!(source.open("c").unwrap_err(), OpenError::Link("c".to_owned()));
        let intervals = source.root().join("a/intervals.csv");
        symlink("/etc/passwd", &intervals).unwrap();
        assert_eq!(source.open("a").unwrap_err(), OpenError::Link("intervals.csv".to_owned()));
        fs::remove_file(&intervals).unwrap();
        fs::create_dir(source.root().join("a/samples")).unwrap();
        symlink("/etc/passwd", source.root().join("a/samples/waits.csv")).unwrap();
        assert_eq!(source.open("a").unwrap_err(), OpenError::Link("waits.csv".to_owned()));
        fs::remove_file(source.root().join("b/run.json")).unwrap();
        symlink(home.path().join("run.json"), source.root().join("b/run.json")).unwrap();
        assert_eq!(source.open("b").unwrap_err(), OpenError::Link("run.json".to_owned()));
        assert!(source.runs().unwrap()[0].record.as_ref().unwrap_err().contains("links are not followed"));
        let pipe = source.root().join("b/latency.hlog");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(!source.goes_on("b"), "a pipe is not opened: that would wait for its other end");
    }
}
