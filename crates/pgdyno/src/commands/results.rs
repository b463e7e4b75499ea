//! Where a command reads runs: a results directory, or a store by its mirror in the cache.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_live::ProgressView;
use pgdyno_net::ConnectOptions;
use pgdyno_results::{NamedRecord, StoreError};
use pgdyno_store::{Mirror, Reporter, RunName, UpdateEvent};

use super::central::{Central, cache, failure};
use crate::cli::ResultsArgs;

/// Number of records to fetch that is worth a line.
const MANY: usize = 50;

/// Runs that a command reads.
pub(super) struct Results {
    directory: PathBuf,
    /// The directory or the store, as a reader knows it.
    place: String,
    mirror: Option<Mutex<Mirror>>,
}

impl Results {
    /// Opens a results directory, or a store: then its records are fetched, as far as they are not in the cache.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) fn open(args: &ResultsArgs) -> Result<Self> {
        let dsn = match args.place() {
            Ok(directory) => {
                let place = directory.display().to_string();
                return Ok(Self { directory, place, mirror: None });
            }
            Err(dsn) => dsn,
        };
        let central = Central::of(&dsn)?;
        let mirror = Mirror::open(central.open()?, &cache()?).map_err(|error| central.failure(error))?;
        let place = format!("the store {}", central.options);
        let results = Self { directory: mirror.directory().to_owned(), place, mirror: Some(Mutex::new(mirror)) };
        results.update(&mut report_to(ProgressView::new(false), &central.options))?;
        Ok(results)
    }

    /// Returns the directory in which the runs are read.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the directory or the store, as a reader knows it.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Returns true if the runs come from a store.
    pub(super) fn is_store(&self) -> bool {
        self.mirror.is_some()
    }

    /// Fetches new records of a store. No other process changes the copies until [`Results::release`].
    pub(super) fn update(&self, news: &mut Reporter<'_>) -> Result<()> {
        let Some(mirror) = &self.mirror else { return Ok(()) };
        let mut mirror = mirror.lock().unwrap_or_else(PoisonError::into_inner);
        mirror.update(news).map_err(failure)
    }

    /// Lets other processes change the copies of a store's runs: all that is needed has been read. To be called before
    /// anything is printed, which may take as long as a reader wants.
    pub(super) fn release(&self) {
        if let Some(mirror) = &self.mirror {
            mirror.lock().unwrap_or_else(PoisonError::into_inner).release();
        }
    }

    /// Returns the record that `name` names, as [`pgdyno_results::find_record`] does.
    pub(super) fn find_record(&self, name: &str) -> Result<NamedRecord> {
        self.named(pgdyno_results::find_record(&self.directory, name))
    }

    /// Returns the records that `names` names, as [`pgdyno_results::find_runs`] does.
    pub(super) fn find_runs(&self, names: &str) -> Result<Vec<PathBuf>> {
        self.named(pgdyno_results::find_runs(&self.directory, names))
    }

    /// Says where there is no such run in the reader's words.
    fn named<T>(&self, found: std::result::Result<T, StoreError>) -> Result<T> {
        found
            .map_err(|error| match error {
                StoreError::NoSuchRun { name, .. } => StoreError::NoSuchRun { name, results: self.place().into() },
                error => error,
            })
            .or_fail(Code::Start)
    }

    /// Makes sure that all files of the run with this record are here.
    ///
    /// # Errors
    /// When they cannot be fetched.
    pub(super) fn complete(&self, record: &Path) -> Result<()> {
        let Some(mirror) = &self.mirror else { return Ok(()) };
        // A path that the user gave may be anywhere.
        let run = record.parent().filter(|run| run.parent() == Some(&self.directory)).and_then(Path::file_name);
        let Some(run) = run.and_then(|run| RunName::parse(run.to_str()?)) else { return Ok(()) };
        let mut mirror = mirror.lock().unwrap_or_else(PoisonError::into_inner);
        mirror.complete(&run, &mut |_| {}).map_err(failure)
    }
}

/// Returns a reporter of a store's news on standard error.
pub(super) fn report_to(progress: ProgressView, store: &ConnectOptions) -> impl FnMut(UpdateEvent) {
    move |news| match news {
        UpdateEvent::Fetches(number) if number >= MANY => {
            progress.note(&format!("fetching {number} records from the store {store}"));
        }
        UpdateEvent::Fetches(_) => {}
        UpdateEvent::Waits(pid) => {
            let who = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
            progress.note(&format!("waiting for {who}, which reads the store {store}"));
        }
        UpdateEvent::LeftOut(error) => progress.warn(&format!("left out: {}", failure(error).text())),
    }
}
