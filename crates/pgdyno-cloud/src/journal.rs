//! The journal of a lab: a line of JSON before each step, on the disk before the step begins. Whatever is killed, the journal
//! says how far each size may have got.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::engine::LabServer;

/// Bytes of a journal that are read: a lab has some hundred lines.
const BYTES_MAX: u64 = 64 << 20;

/// A step of a lab or of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabStep {
    /// Of the lab: its time to live begins.
    Opened,
    /// Of the lab: it lives longer.
    Extended,
    /// Nothing was created.
    Planned,
    /// The engine creates it.
    Applying,
    /// Its server answers.
    Up,
    /// Its suite runs.
    Driving,
    /// Its suite has ended.
    Ran,
    /// Its records are in the results directory, and are what the driver has.
    Fetched,
    /// The engine destroys it.
    Destroying,
    /// The cloud was asked, and has nothing of it.
    Swept,
    /// It is done.
    Closed,
    /// A step failed; the next line says what became of it.
    Failed,
}

impl LabStep {
    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Extended => "extended",
            Self::Planned => "planned",
            Self::Applying => "applying",
            Self::Up => "up",
            Self::Driving => "driving",
            Self::Ran => "ran",
            Self::Fetched => "fetched",
            Self::Destroying => "destroying",
            Self::Swept => "swept",
            Self::Closed => "closed",
            Self::Failed => "failed",
        }
    }
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Unix time in seconds.
    pub at_s: u64,
    /// The size; none for the lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// The step.
    pub step: LabStep,
    /// Why it failed, or what was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Unix time in seconds at which the lab expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_s: Option<u64>,
    /// Where the server is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<LabServer>,
}

/// How far a size is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeStanding {
    /// The last step that began; none if nothing was planned.
    pub step: Option<LabStep>,
    /// Unix time in seconds at which its creation began first, and at which it was gone.
    pub life_s: (Option<u64>, Option<u64>),
    /// Its server, once it is up.
    pub server: Option<LabServer>,
    /// How its suite ended, once it has.
    pub ended: Option<String>,
    /// What failed last.
    pub failure: Option<String>,
}

/// The journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens the journal at `path`, and creates it if it is not there.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
        // A kill may have cut the last line: the next one begins on its own.
        let bytes = file.seek(SeekFrom::End(0))?;
        if bytes > 0 {
            file.seek(SeekFrom::Start(bytes - 1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(file) })
    }

    /// Adds a line, and returns when it is on the disk.
    ///
    /// # Errors
    /// When the system refuses: the step must not begin.
    pub fn write(&self, entry: &JournalEntry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bytes = file.metadata()?.len();
        file.write_all(&line).and_then(|()| file.sync_all()).inspect_err(|_| {
            // A full disk may have taken a part of it, at which the next line would not begin on its own.
            let _ = file.set_len(bytes);
        })
    }

    /// Reads all lines. Leaves out those that a kill has cut.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn entries(&self) -> io::Result<Vec<JournalEntry>> {
        read(&self.path)
    }
}

fn read(path: &Path) -> io::Result<Vec<JournalEntry>> {
    let mut text = Vec::new();
    File::open(path)?.take(BYTES_MAX).read_to_end(&mut text)?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Returns how far each size is.
pub(crate) fn standings(entries: &[JournalEntry]) -> BTreeMap<String, SizeStanding> {
    let mut standings: BTreeMap<String, SizeStanding> = BTreeMap::new();
    for entry in entries {
        let Some(size) = &entry.size else { continue };
        let standing = standings.entry(size.clone()).or_default();
        match entry.step {
            LabStep::Failed => standing.failure.clone_from(&entry.text),
            step => standing.step = Some(step),
        }
        match entry.step {
            LabStep::Applying => {
                standing.life_s.0.get_or_insert(entry.at_s);
                // It is tried again.
                standing.failure = None;
            }
            LabStep::Driving => standing.failure = None,
            LabStep::Ran => standing.ended.clone_from(&entry.text),
            LabStep::Swept => standing.life_s.1 = Some(entry.at_s),
            LabStep::Up => standing.server.clone_from(&entry.server),
            _ => {}
        }
    }
    standings
}

/// Returns when the lab expires: what was said last.
pub(crate) fn expires_s(entries: &[JournalEntry]) -> Option<u64> {
    entries.iter().rev().find_map(|entry| entry.expires_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(size: &str, step: LabStep) -> JournalEntry {
        JournalEntry { at_s: 7, size: Some(size.to_owned()), step, text: None, expires_s: None, server: None }
    }

    #[test]
    fn a_line_that_a_kill_has_cut_is_no_line_and_the_next_one_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.jsonl");
        Journal::open(&path).unwrap().write(&entry("a", LabStep::Applying)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            let mut text = whole.clone();
            text.extend_from_slice(&whole[..cut]);
            std::fs::write(&path, &text).unwrap();
            let journal = Journal::open(&path).unwrap();
            journal.write(&entry("a", LabStep::Up)).unwrap();
            // A line without its end is whole all the same if nothing but the end is missing.
            let steps: Vec<_> = journal.entries().unwrap().iter().map(|entry| entry.step).collect();
            let expected = if cut + 1 == whole.len() { 3 } else { 2 };
            assert_eq!((steps.len(), steps.last()), (expected, Some(&LabStep::Up)), "cut at {cut}");
        }
    }

    #[test]
    fn a_failure_is_kept_beside_the_step() {
        let failed = JournalEntry { text: Some("no quota".to_owned()), ..entry("a", LabStep::Failed) };
        let extended = JournalEntry { size: None, expires_s: Some(99), ..entry("", LabStep::Extended) };
        let entries = [entry("a", LabStep::Applying), failed, entry("a", LabStep::Destroying), extended];
        let standing = standings(&entries)["a"].clone();
        assert_eq!((standing.step, standing.failure.as_deref()), (Some(LabStep::Destroying), Some("no quota")));
        assert_eq!(standing.life_s, (Some(7), None));
        let failed = JournalEntry { text: Some("broke off".to_owned()), ..entry("a", LabStep::Failed) };
        let ran = JournalEntry { text: Some("2 of 3 runs are complete".to_owned()), ..entry("a", LabStep::Ran) };
        assert_eq!(super::standings(&[ran])["a"].ended.as_deref(), Some("2 of 3 runs are complete"));
        let resumed = [entry("a", LabStep::Driving), failed, entry("a", LabStep::Driving)];
        assert_eq!(super::standings(&resumed[..2])["a"].failure.as_deref(), Some("broke off"));
        assert_eq!(super::standings(&resumed)["a"].failure, None, "it goes on");
        assert_eq!(expires_s(&entries), Some(99));
    }
}
