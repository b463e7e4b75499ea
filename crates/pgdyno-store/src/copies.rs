//! Copies of a store's runs and studies in a directory.
//!
//! Nothing of the store is believed: names and paths are of strict forms, and every file that is here is compared with
//! the length and SHA-256 that the store gives before it is used. One that differs is fetched again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgdyno_results::{RECORD, Study, StudyKind};
use pgdyno_text::hex;
use pgdyno_untrusted::{Directory, EntryKind, FileName, RelativePath};
use sha2::{Digest as _, Sha256};

use crate::error::{CentralError, io_error};
use crate::names::{RunName, study_path};
use crate::rows::{Rows, StoredFile, StoredStudy, file_of, run, study};
use crate::run_files::{DEPTH_MAX, PART_BYTES, copy, digest_of_list, is_stored};
use crate::store::StoredKind;

/// The largest record, of a run or a study.
const RECORD_BYTES_MAX: u64 = 256 << 20;

/// News of an update.
#[derive(Debug)]
pub enum UpdateEvent {
    /// Another process uses the copies, perhaps the one of this number; this one waits for it.
    Waits(Option<u32>),
    /// So many records are to be fetched.
    Fetches(usize),
    /// A run or a study is left out.
    LeftOut(CentralError),
}

/// Receives news of an update.
pub type Reporter<'a> = dyn FnMut(UpdateEvent) + 'a;

/// A directory with copies.
#[derive(Debug)]
pub(crate) struct Copies {
    directory: Directory,
}

/// Why a file could not be written: the system refused it, or the store did not give it.
enum Unwritten {
    System(io::Error),
    Store(CentralError),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl Copies {
    pub(crate) fn of(directory: Directory) -> Self {
        Self { directory }
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Fetches the records that are not here as they are in the store, and removes what the store no longer has.
    pub(crate) fn update(&self, rows: &mut dyn Rows, news: &mut Reporter<'_>) -> Result<(), CentralError> {
        self.update_runs(rows, news)?;
        self.update_studies(rows, news)
    }

    fn update_runs(&self, rows: &mut dyn Rows, news: &mut Reporter<'_>) -> Result<(), CentralError> {
        let stored: BTreeMap<_, _> = rows.runs()?.iter().filter_map(|row| run(row, RECORD)).collect();
        for name in self.directory.names().map_err(self.failed("read"))? {
            let is_page = matches!(self.kind(&RelativePath::from(&name))?, Some(EntryKind::File(_)));
            let Some(run) = RunName::parse(name.as_str()).filter(|_| !is_page) else { continue };
            if !stored.contains_key(&run) {
                self.forget(&run)?;
            }
        }
        let is_missing = |(run, record): &(&RunName, &Result<StoredFile, String>)| match record {
            Ok(record) => !self.has(run, record),
            Err(_) => true,
        };
        let missing: Vec<_> = stored.iter().filter(is_missing).collect();
        if !missing.is_empty() {
            news(UpdateEvent::Fetches(missing.len()));
        }
        for (run, record) in missing {
            self.forget(run)?;
            let fetched = match record {
                Ok(record) if record.bytes <= RECORD_BYTES_MAX => self.fetch(rows, run, record),
                Ok(_) => Err(damaged_file(run, RECORD, "it is too large for a record".to_owned())),
                Err(why) => Err(damaged_file(run, RECORD, why.clone())),
            };
            match fetched {
                Err(error @ CentralError::Damaged { .. }) => news(UpdateEvent::LeftOut(error)),
                fetched => fetched?,
            }
        }
        Ok(())
    }

    fn update_studies(&self, rows: &mut dyn Rows, news: &mut Reporter<'_>) -> Result<(), CentralError> {
        let stored: BTreeMap<_, _> =
            rows.studies()?.iter().filter_map(study).map(|study| (study.path.clone(), study)).collect();
        for kind in StudyKind::ALL {
            self.remove_other_studies(kind, &stored)?;
        }
        for study in stored.values() {
            if digest(&self.directory, &study.path).is_some_and(|(_, sha256)| sha256 == study.sha256.as_str()) {
                continue;
            }
            let content = match study_content(rows, study) {
                Err(error @ CentralError::Damaged { .. }) => {
                    news(UpdateEvent::LeftOut(error));
                    continue;
                }
                content => content?,
            };
            self.directory.write_whole(&study.path, &content).map_err(self.failed("write"))?;
        }
        Ok(())
    }

    /// Removes what is in the directory of a kind of studies and not in the store; the directory, if it is none.
    fn remove_other_studies(
        &self,
        kind: StudyKind,
        stored: &BTreeMap<RelativePath, StoredStudy>,
    ) -> Result<(), CentralError> {
        let Ok(name) = FileName::parse(kind.directory()) else { return Ok(()) };
        let within = RelativePath::from(&name);
        match self.kind(&within)? {
            None => return Ok(()),
            Some(EntryKind::Directory) => {}
            Some(_) => return self.directory.remove_child(&name).map_err(self.failed("remove")),
        }
        let studies = self.directory.open_child(&name).map_err(self.failed("read"))?;
        for file in studies.names().map_err(self.failed("read"))? {
            if !stored.contains_key(&within.join(&file)) {
                studies.remove_child(&file).map_err(self.failed("remove"))?;
            }
        }
        Ok(())
    }

    /// Makes all files of a run be here as they are in the store, and no others. Returns them.
    pub(crate) fn complete(&self, rows: &mut dyn Rows, run: &RunName) -> Result<Vec<StoredFile>, CentralError> {
        let files = files(rows, run)?;
        let attempt = |rows: &mut dyn Rows| {
            self.remove_others(run, &files)?;
            for file in &files {
                if !self.has(run, file) {
                    self.fetch(rows, run, file)?;
                }
            }
            Ok(())
        };
        match attempt(rows) {
            // Something is in the way, such as a link in place of a directory.
            Err(CentralError::Io { .. }) => {
                self.forget(run)?;
                attempt(rows)?;
            }
            attempted => attempted?,
        }
        Ok(files)
    }

    /// Copies a run into a results directory as a whole. Returns false if it is there already.
    pub(crate) fn copy_run(
        &self,
        rows: &mut dyn Rows,
        run: &RunName,
        results: &Directory,
    ) -> Result<bool, CentralError> {
        let there = |files: &[StoredFile]| files.iter().all(|file| is_as_stored(results, run, file));
        let is_taken = || results.kind(&RelativePath::from(run.as_name())).map(|kind| kind.is_some());
        let differs =
            || CentralError::DiffersHere { kind: StoredKind::Run.name(), path: results.path().join(run.as_str()) };
        if is_taken().map_err(io_error("read", results.path()))? {
            return if there(&files(rows, run)?) { Ok(false) } else { Err(differs()) };
        }
        let files = self.complete(rows, run)?;
        let fresh = results.create_temporary_child().map_err(io_error("write to", results.path()))?;
        for file in &files {
            self.copy_file(run, file, fresh.directory())?;
        }
        match fresh.rename(run.as_name()) {
            Ok(()) => Ok(true),
            // Another process has pulled it meanwhile.
            Err(_) if there(&files) => Ok(false),
            Err(_) if is_taken().is_ok_and(|is_taken| is_taken) => Err(differs()),
            Err(error) => Err(io_error("write", &results.path().join(run.as_str()))(error)),
        }
    }

    fn copy_file(&self, run: &RunName, file: &StoredFile, to: &Directory) -> Result<(), CentralError> {
        let from = self.open(run, file)?;
        let copied = to.write_with(&file.path, |out| {
            let found = copy(from, out)?;
            if found == (file.bytes, file.sha256.as_str().to_owned()) {
                return Ok(());
            }
            Err(Unwritten::Store(damaged_file(run, file.path.as_str(), "its copy changed".to_owned())))
        });
        copied.map_err(|error| unwritten(error, to, &file.path))
    }

    /// Copies the record of a study, which is here, into a results directory. Returns false if it is there already. An
    /// earlier state of the same study is replaced.
    pub(crate) fn copy_study(&self, kind: StudyKind, name: &str, results: &Directory) -> Result<bool, CentralError> {
        let path = study_path(kind, name).ok_or_else(|| CentralError::NoSuch { name: name.to_owned() })?;
        let read = |directory: &Directory| {
            let content = directory.read(&path, RECORD_BYTES_MAX).map_err(io_error("read", directory.path()))?;
            Ok::<_, CentralError>(String::from_utf8_lossy(&content).into_owned())
        };
        let text = read(&self.directory)?;
        let to = results.path().join(path.as_path());
        if results.kind(&path).map_err(io_error("read", &to))?.is_some() {
            let there = read(results)?;
            if there == text {
                return Ok(false);
            }
            let runs = Study::parse(kind, &to, &text)?.runs;
            let goes_on =
                Study::parse(kind, &to, &there).is_ok_and(|old| old.runs.iter().all(|run| runs.contains(run)));
            if !goes_on {
                return Err(CentralError::DiffersHere { kind: kind.name(), path: to });
            }
        }
        results.write_whole(&path, text.as_bytes()).map_err(io_error("write", &to))?;
        Ok(true)
    }

    /// Returns true if the record of a run is here.
    pub(crate) fn has_record(&self, run: &RunName) -> bool {
        let record = FileName::parse(RECORD).ok().map(|record| RelativePath::from(run.as_name()).join(&record));
        record.is_some_and(|record| self.directory.has_file(&record))
    }

    /// Returns true if a file is here as it is in the store.
    fn has(&self, run: &RunName, file: &StoredFile) -> bool {
        is_as_stored(&self.directory, run, file)
    }

    fn open(&self, run: &RunName, file: &StoredFile) -> Result<File, CentralError> {
        let path = self.path(run, file)?;
        self.directory.open_file(&path).map_err(io_error("read", &self.directory.path().join(path.as_path())))
    }

    fn path(&self, run: &RunName, file: &StoredFile) -> Result<RelativePath, CentralError> {
        let too_long = || damaged_file(run, file.path.as_str(), "its path is too long".to_owned());
        run.join(&file.path).ok_or_else(too_long)
    }

    /// Fetches a file: it is here as a whole and as the store describes it, or not at all.
    fn fetch(&self, rows: &mut dyn Rows, run: &RunName, file: &StoredFile) -> Result<(), CentralError> {
        let path = self.path(run, file)?;
        let fetched = self.directory.write_with(&path, |out| fetch_parts(rows, run, file, out));
        fetched.map_err(|error| unwritten(error, &self.directory, &path))
    }

    /// Removes the files of a run that are not among these. Pages stay: they are made here.
    fn remove_others(&self, run: &RunName, files: &[StoredFile]) -> Result<(), CentralError> {
        let wanted: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        match self.kind(&RelativePath::from(run.as_name()))? {
            None => Ok(()),
            Some(EntryKind::Directory) => {
                let directory = self.directory.open_child(run.as_name()).map_err(self.failed("read"))?;
                remove_others(&directory, "", &wanted, DEPTH_MAX).map_err(self.failed("clean"))
            }
            Some(_) => self.forget(run),
        }
    }

    /// Removes a run.
    fn forget(&self, run: &RunName) -> Result<(), CentralError> {
        self.directory.remove_child(run.as_name()).map_err(self.failed("remove a run from"))
    }

    fn kind(&self, path: &RelativePath) -> Result<Option<EntryKind>, CentralError> {
        self.directory.kind(path).map_err(self.failed("read"))
    }

    fn failed(&self, what: &'static str) -> impl FnOnce(io::Error) -> CentralError {
        io_error(what, self.directory.path())
    }
}

/// Returns true if a directory with runs has a file as it is in the store.
fn is_as_stored(directory: &Directory, run: &RunName, file: &StoredFile) -> bool {
    let there = run.join(&file.path).and_then(|path| digest(directory, &path));
    there.is_some_and(|there| there == (file.bytes, file.sha256.as_str().to_owned()))
}

/// Returns the length and the SHA-256 of a file.
fn digest(directory: &Directory, path: &RelativePath) -> Option<(u64, String)> {
    copy(directory.open_file(path).ok()?, &mut io::sink()).ok()
}

/// Returns the files of a run.
fn files(rows: &mut dyn Rows, run: &RunName) -> Result<Vec<StoredFile>, CentralError> {
    let rows = rows.files(run)?;
    if rows.is_empty() {
        return Err(CentralError::NoSuch { name: run.to_string() });
    }
    let damaged = |why| damaged_file(run, "the list of its files", why);
    let mut files = rows.iter().map(|row| file_of(row).map_err(damaged)).collect::<Result<Vec<_>, _>>()?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let digest = digest_of_list(files.iter().map(|file| (file.path.as_str(), file.sha256.as_str())));
    let pushed = rows.first().and_then(|row| row.get(3)?.as_deref()).unwrap_or_default();
    if digest != pushed {
        return Err(damaged(format!("its SHA-256 is {digest}, and {pushed:?} was pushed")));
    }
    Ok(files)
}

/// Returns the record of a study as it was pushed.
fn study_content(rows: &mut dyn Rows, study: &StoredStudy) -> Result<Vec<u8>, CentralError> {
    let damaged = |why: String| CentralError::Damaged {
        kind: study.kind.name(),
        name: study.name.clone(),
        path: study.path.to_string(),
        why,
    };
    let found = rows.study(&study.name)?.ok_or_else(|| damaged("it has no content".to_owned()))?;
    let content = STANDARD.decode(found).map_err(|error| damaged(error.to_string()))?;
    let digest = hex(&Sha256::digest(&content));
    if digest != study.sha256.as_str() {
        return Err(damaged(format!("its SHA-256 is {digest}, and {} was pushed", study.sha256.as_str())));
    }
    Ok(content)
}

/// Writes a file of the store to `out`, and checks that it is what was pushed.
fn fetch_parts(rows: &mut dyn Rows, run: &RunName, file: &StoredFile, out: &mut File) -> Result<(), Unwritten> {
    let damaged = |why: String| Unwritten::Store(damaged_file(run, file.path.as_str(), why));
    let (mut sha, mut bytes, mut part) = (Sha256::new(), 0, 0);
    while bytes < file.bytes {
        let found = rows.part(run, &file.path, part).map_err(Unwritten::Store)?;
        let found = found.ok_or_else(|| damaged(format!("its part {part} is missing")))?;
        let content = STANDARD.decode(found).map_err(|error| damaged(error.to_string()))?;
        if content.is_empty() || content.len() > PART_BYTES {
            return Err(damaged(format!("its part {part} has {} bytes", content.len())));
        }
        sha.update(&content);
        out.write_all(&content)?;
        bytes += content.len() as u64;
        part += 1;
    }
    let found = hex(&sha.finalize());
    if bytes != file.bytes || found != file.sha256.as_str() {
        return Err(damaged(format!("its SHA-256 is {found}, and {} was pushed", file.sha256.as_str())));
    }
    Ok(())
}

/// Removes what is neither wanted nor a page.
fn remove_others(directory: &Directory, within: &str, wanted: &BTreeSet<&str>, depth: usize) -> io::Result<()> {
    for name in directory.names()? {
        let path = if within.is_empty() { name.to_string() } else { format!("{within}/{name}") };
        match directory.kind(&RelativePath::from(&name))? {
            Some(EntryKind::Directory) if depth > 0 => {
                remove_others(&directory.open_child(&name)?, &path, wanted, depth - 1)?;
            }
            Some(EntryKind::File(_)) if wanted.contains(&*path) || !is_stored(name.as_str()) => {}
            _ => directory.remove_child(&name)?,
        }
    }
    Ok(())
}

fn damaged_file(run: &RunName, path: &str, why: String) -> CentralError {
    CentralError::Damaged { kind: StoredKind::Run.name(), name: run.to_string(), path: path.to_owned(), why }
}

fn unwritten(error: Unwritten, directory: &Directory, path: &RelativePath) -> CentralError {
    match error {
        Unwritten::System(error) => io_error("write", &directory.path().join(path.as_path()))(error),
        Unwritten::Store(error) => error,
    }
}
