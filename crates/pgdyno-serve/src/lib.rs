//! The results directory as web pages for a user of this machine: runs to sort, filter and compare, reports that are
//! rendered on request, and runs to watch while they go on.
//!
//! The server does not measure, and changes nothing: it reads the files in the results directory. It listens on
//! 127.0.0.1 only. The path of a request:
//!
//! ```text
//! server (connections, their limits) ─► guard (method, Host) ─► site (path → page) ─► pages/ ─► answer (headers)
//!                                                                 └─► run_source (the directory; no link is followed)
//! ```
//!
//! The caller renders reports: [`Pages`] returns what `pgdyno report` and `pgdyno compare` write, reports with links to
//! the other pages.

mod answer;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod pages;
mod query;
mod run_source;
mod server;
mod site;

use std::path::{Path, PathBuf};

use pgdyno_report::html::Link;
use pgdyno_results::RunRecord;

pub use server::{PageServer, ServeError, Stopper};

/// A run to render. The id of its record is the name of its directory, so that all of its files are found there and
/// nowhere else.
#[derive(Clone, Debug)]
pub struct ServedRun {
    /// Its `run.json`.
    pub path: PathBuf,
    /// Its contents.
    pub record: RunRecord,
}

/// Why a comparison has no page, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoComparison {
    /// These runs cannot be compared; others can.
    Unfit(String),
    /// A file cannot be read.
    Failed(String),
}

/// Renders whole pages of runs.
pub trait Pages: Send + Sync {
    /// Returns the report of a run in the results directory `results` with links to other pages, as HTML.
    ///
    /// # Errors
    /// A message, when a file beside the record cannot be read.
    fn report(&self, results: &Path, run: ServedRun, links: &[Link]) -> Result<Vec<u8>, String>;

    /// Returns the comparison of `new` with `base`, as HTML. Neither is empty.
    ///
    /// # Errors
    /// When the runs cannot be compared, or a file cannot be read.
    fn compare(&self, results: &Path, base: Vec<ServedRun>, new: Vec<ServedRun>) -> Result<Vec<u8>, NoComparison>;

    /// Returns what every page says first, such as that the runs are of an earlier moment.
    fn notice(&self) -> Option<String> {
        None
    }
}
