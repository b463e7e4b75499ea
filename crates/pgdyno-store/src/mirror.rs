//! A local directory with runs and studies of a store, for everything that reads a results directory.
//!
//! Records come first, because lists need nothing else; the other files of a run come when they are asked for. What is
//! read between an update and [`Mirror::release`] is of one snapshot of the store, and no other process changes the
//! directory meanwhile: commands side by side behave as if one ran after the other.

use std::path::Path;
use std::time::{Duration, Instant};

use pgdyno_results::StudyKind;
use pgdyno_untrusted::{Directory, FileName, Lock, LockFile, RelativePath, require_own};

use crate::copies::{Copies, Reporter, UpdateEvent};
use crate::error::{CentralError, io_error};
use crate::names::{RunName, store_id};
use crate::store::Store;

/// A connection that is lost within this time is made again at once.
const AT_ONCE: Duration = Duration::from_secs(5);

/// A local directory with runs of a store.
#[derive(Debug)]
pub struct Mirror {
    store: Store,
    copies: Copies,
    lock: LockFile,
    /// Held from the first question to [`Mirror::release`].
    held: Option<Lock>,
    /// Whether the connection to the store was lost.
    is_lost: bool,
}

impl Mirror {
    /// Opens the mirror of a store in a directory of its own below `root`.
    ///
    /// # Errors
    /// When the identity of the store is none, the directory cannot be created, or another user can write to `root`.
    pub fn open(store: Store, root: &Path) -> Result<Self, CentralError> {
        let no_id = || CentralError::NoIdentity { id: store.id().to_owned() };
        let id = store_id(store.id()).ok_or_else(no_id)?;
        let lock = FileName::parse(&format!("{id}.lock")).map_err(|_| no_id())?;
        let cannot = |what| io_error(what, root);
        let mirrors = Directory::create_private(root).map_err(cannot("create"))?;
        require_own(root, None)?;
        let directory = mirrors.create_child(&id).map_err(cannot("write to"))?;
        let lock = LockFile::open(&mirrors, &RelativePath::from(&lock)).map_err(cannot("write to"))?;
        Ok(Self { store, copies: Copies::of(directory), lock, held: None, is_lost: false })
    }

    /// Returns the directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.copies.directory().path()
    }

    /// Fetches the records that are not here, and forgets the runs that the store no longer has. Reads a new snapshot.
    ///
    /// # Errors
    /// When the store cannot be read, or the directory not be written.
    pub fn update(&mut self, news: &mut Reporter<'_>) -> Result<(), CentralError> {
        self.release();
        self.reading(news, |copies, store, news| copies.update(store, news))
    }

    /// Fetches all files of a run that are not here as they are in the store.
    ///
    /// # Errors
    /// When the store has no such run, or its files are damaged, or cannot be written here.
    pub fn complete(&mut self, run: &RunName, news: &mut Reporter<'_>) -> Result<(), CentralError> {
        self.reading(news, |copies, store, _| copies.complete(store, run).map(drop))
    }

    /// Copies a run into a results directory. Returns false if it is there already.
    ///
    /// # Errors
    /// When it is there with other files, or cannot be read or written.
    pub fn copy_to(&mut self, run: &RunName, results: &Path, news: &mut Reporter<'_>) -> Result<bool, CentralError> {
        let results = Directory::create(results).map_err(io_error("create", results))?;
        self.reading(news, |copies, store, _| copies.copy_run(store, run, &results))
    }

    /// Copies the record of a study, which is here, into a results directory. Returns false if it is there already. An
    /// earlier state of the same study is replaced.
    ///
    /// # Errors
    /// When it is there with other runs, or cannot be read or written.
    pub fn copy_study_to(&self, kind: StudyKind, id: &str, results: &Path) -> Result<bool, CentralError> {
        let results = Directory::create(results).map_err(io_error("create", results))?;
        self.copies.copy_study(kind, id, &results)
    }

    /// Returns the names of those runs of a study that the store has.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs_of(&mut self, study: &str, news: &mut Reporter<'_>) -> Result<Vec<RunName>, CentralError> {
        let runs = self.reading(news, |_, store, _| store.runs_of(study))?;
        let named = runs.iter().filter_map(|run| RunName::parse(run));
        Ok(named.filter(|run| self.copies.has_record(run)).collect())
    }

    /// Lets other processes change the directory, until the next question to the store.
    pub fn release(&mut self) {
        if self.held.take().is_some() && !self.is_lost {
            self.is_lost = self.store.end_snapshot().is_err();
        }
    }

    /// Reads the store and the directory while no other process changes either. Tries once more where the connection is
    /// lost, unless the store was silent.
    fn reading<T>(
        &mut self,
        news: &mut Reporter<'_>,
        mut read: impl FnMut(&Copies, &mut Store, &mut Reporter<'_>) -> Result<T, CentralError>,
    ) -> Result<T, CentralError> {
        let mut attempt = |mirror: &mut Self| {
            let answer = mirror.begin(news).and_then(|()| read(&mirror.copies, &mut mirror.store, news));
            if let Err(error) = &answer {
                mirror.is_lost |= error.is_passing();
                mirror.release();
            }
            answer
        };
        let began = Instant::now();
        match attempt(self) {
            Err(error) if error.is_passing() && began.elapsed() < AT_ONCE => attempt(self),
            answer => answer,
        }
    }

    fn begin(&mut self, news: &mut Reporter<'_>) -> Result<(), CentralError> {
        if self.held.is_some() {
            return Ok(());
        }
        let cannot = |error| io_error("lock", self.copies.directory().path())(error);
        let lock = match self.lock.try_lock().map_err(cannot)? {
            Some(lock) => lock,
            None => {
                news(UpdateEvent::Waits(self.lock.holder()));
                self.lock.lock().map_err(cannot)?
            }
        };
        if self.is_lost {
            self.store.reconnect()?;
            self.is_lost = false;
        }
        self.store.begin_snapshot()?;
        self.held = Some(lock);
        Ok(())
    }
}
