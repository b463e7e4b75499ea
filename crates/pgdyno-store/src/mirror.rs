//! A local directory with runs and studies of a store, for everything that reads a results directory.
//!
//! Records come first, because lists need nothing else; the other files of a run come when they are asked for. Beside
//! the runs, `.digests/RUN` says of which files a run here is, so that only what changed in the store is fetched. The
//! file of a study is compared with its digest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pgdyno_results::{RECORD, Study, StudyKind, is_run_name, write_whole};

use crate::error::{CentralError, io_error};
use crate::run_files::{RunFile, digest, is_inside};
use crate::store::{Kind, Store, Stored};

/// The directory of the digests.
const DIGESTS: &str = ".digests";

/// A local directory with runs of a store.
#[derive(Debug)]
pub struct Mirror {
    store: Store,
    directory: PathBuf,
}

impl Mirror {
    /// Opens the mirror of a store in a directory of its own below `root`.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn open(store: Store, root: &Path) -> Result<Self, CentralError> {
        let directory = root.join(store.id());
        let digests = directory.join(DIGESTS);
        fs::create_dir_all(&digests).map_err(io_error("create", &digests))?;
        Ok(Self { store, directory })
    }

    /// Returns the directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Fetches the records that are not here, and forgets the runs that the store no longer has. Tells `progress` how
    /// many there are to fetch, if there are any.
    ///
    /// # Errors
    /// When the store cannot be read, or the directory not be written.
    pub fn update(&mut self, progress: &mut dyn FnMut(usize)) -> Result<(), CentralError> {
        let stored: BTreeMap<String, Stored> = self
            .store
            .runs()?
            .into_iter()
            .filter(|run| is_run_name(&run.name))
            .map(|run| (run.name.clone(), run))
            .collect();
        let digests = self.directory.join(DIGESTS);
        for entry in fs::read_dir(&digests).map_err(io_error("read", &digests))? {
            let name = entry.map_err(io_error("read", &digests))?.file_name().to_string_lossy().into_owned();
            // A file that another process is writing has another name.
            if is_run_name(&name) && !name.ends_with(".tmp") && !stored.contains_key(&name) {
                self.forget(&name)?;
            }
        }
        let missing: Vec<_> =
            stored.values().filter(|run| self.digest(&run.name).as_deref() != Some(&run.digest)).cloned().collect();
        if !missing.is_empty() {
            progress(missing.len());
        }
        for run in missing {
            self.forget(&run.name)?;
            let files = self.store.files(&run.name)?;
            // Pruned meanwhile.
            let Some(record) = files.iter().find(|file| file.path == RECORD) else { continue };
            self.fetch_file(&run.name, record)?;
            write_whole(&digests.join(&run.name), run.digest.as_bytes())?;
        }
        self.update_studies()
    }

    /// Fetches the studies that are not here as they are in the store, and forgets those that it no longer has.
    fn update_studies(&mut self) -> Result<(), CentralError> {
        let stored: Vec<_> = self.store.studies()?.into_iter().filter(|study| is_run_name(&study.name)).collect();
        let place = |study: &Stored| match study.kind {
            Kind::Study(kind) => Some(kind.path(&self.directory, &study.name)),
            Kind::Run => None,
        };
        let wanted: BTreeMap<PathBuf, &Stored> =
            stored.iter().filter_map(|study| Some((place(study)?, study))).collect();
        for (_, here) in Study::list(&self.directory) {
            if !wanted.contains_key(&here) {
                fs::remove_file(&here).map_err(io_error("remove", &here))?;
            }
        }
        for (path, study) in wanted {
            if digest(&path).is_ok_and(|(_, sha256)| sha256 == study.digest) {
                continue;
            }
            let directory = path.parent().unwrap_or(&self.directory);
            fs::create_dir_all(directory).map_err(io_error("create", directory))?;
            match self.store.study_content(study) {
                Ok(content) => write_whole(&path, &content)?,
                // Pruned meanwhile.
                Err(CentralError::NoSuch { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Copies the record of a study, which is here, into a results directory. Returns false if it is there already. An
    /// earlier state of the same study is replaced.
    ///
    /// # Errors
    /// When it is there with other runs, or cannot be read or written.
    pub fn copy_study_to(&self, kind: StudyKind, id: &str, results: &Path) -> Result<bool, CentralError> {
        let (from, to) = (kind.path(&self.directory, id), kind.path(results, id));
        let read = |path: &Path| fs::read_to_string(path).map_err(io_error("read", path));
        let text = read(&from)?;
        if to.exists() {
            let there = read(&to)?;
            if there == text {
                return Ok(false);
            }
            let runs = Study::parse(kind, &from, &text)?.runs;
            let goes_on =
                Study::parse(kind, &to, &there).is_ok_and(|old| old.runs.iter().all(|run| runs.contains(run)));
            if !goes_on {
                return Err(CentralError::DiffersHere { kind: kind.name(), path: to });
            }
        }
        let directory = to.parent().unwrap_or(results);
        fs::create_dir_all(directory).map_err(io_error("create", directory))?;
        write_whole(&to, text.as_bytes())?;
        Ok(true)
    }

    /// Returns the names of those runs of a study that the store has.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs_of(&mut self, study: &str) -> Result<Vec<String>, CentralError> {
        let runs = self.store.runs_of(study)?;
        Ok(runs.into_iter().filter(|run| self.digest(run).is_some()).collect())
    }

    /// Fetches all files of a run that are not here.
    ///
    /// # Errors
    /// When the store has no such run, or its files are damaged, or cannot be written here.
    pub fn complete(&mut self, run: &str) -> Result<(), CentralError> {
        let files = self.store.files(run)?;
        if files.is_empty() || !is_run_name(run) {
            return Err(CentralError::NoSuch { name: run.to_owned() });
        }
        for file in &files {
            let here = self.directory.join(run).join(&file.path);
            if fs::metadata(&here).is_ok_and(|there| there.len() == file.bytes) {
                continue;
            }
            self.fetch_file(run, file)?;
        }
        Ok(())
    }

    /// Copies a run into a results directory. Returns false if it is there already.
    ///
    /// # Errors
    /// When it is there with other files, or cannot be read or written.
    pub fn copy_to(&mut self, run: &str, results: &Path) -> Result<bool, CentralError> {
        let to = results.join(run);
        let files = self.store.files(run)?;
        if files.is_empty() || !is_run_name(run) {
            return Err(CentralError::NoSuch { name: run.to_owned() });
        }
        if to.join(RECORD).exists() {
            let is_same = |file: &RunFile| {
                is_inside(&file.path) && digest(&to.join(&file.path)).is_ok_and(|(_, sha256)| sha256 == file.sha256)
            };
            return if files.iter().all(is_same) {
                Ok(false)
            } else {
                Err(CentralError::DiffersHere { kind: Kind::Run.name(), path: to })
            };
        }
        self.complete(run)?;
        // The record comes last: a copy without it is no run.
        let last = |file: &&RunFile| file.path == RECORD;
        for file in files.iter().filter(|file| !last(file)).chain(files.iter().filter(last)) {
            let (from, to) = (self.directory.join(run).join(&file.path), to.join(&file.path));
            let directory = to.parent().unwrap_or(results);
            fs::create_dir_all(directory).map_err(io_error("create", directory))?;
            fs::copy(&from, &to).map_err(io_error("write", &to))?;
        }
        Ok(true)
    }

    /// Fetches a file: it is here as a whole, or not at all.
    fn fetch_file(&mut self, run: &str, file: &RunFile) -> Result<(), CentralError> {
        if !is_inside(&file.path) {
            let why = "its name leads out of the run's directory".to_owned();
            let (kind, name) = (Kind::Run.name(), run.to_owned());
            return Err(CentralError::Damaged { kind, name, path: file.path.clone(), why });
        }
        let to = self.directory.join(run).join(&file.path);
        let directory = to.parent().unwrap_or(&self.directory);
        fs::create_dir_all(directory).map_err(io_error("create", directory))?;
        let fresh = directory.join(format!(".{}.tmp", std::process::id()));
        // A process of the same number may have been killed here.
        let _ = fs::remove_file(&fresh);
        let fetched = self.store.fetch(run, file, &fresh);
        let fetched = fetched.and_then(|()| fs::rename(&fresh, &to).map_err(io_error("write", &to)));
        if fetched.is_err() {
            // The half-written file is useless; a failure to remove it adds nothing to the error.
            let _ = fs::remove_file(&fresh);
        }
        fetched
    }

    /// Returns the digest of a run that is here.
    fn digest(&self, run: &str) -> Option<String> {
        let digest = fs::read_to_string(self.directory.join(DIGESTS).join(run)).ok()?;
        self.directory.join(run).join(RECORD).is_file().then_some(digest)
    }

    /// Removes a run.
    fn forget(&self, run: &str) -> Result<(), CentralError> {
        let (files, digest) = (self.directory.join(run), self.directory.join(DIGESTS).join(run));
        for removed in [fs::remove_dir_all(&files), fs::remove_file(&digest)] {
            match removed {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(io_error("remove", &files)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
