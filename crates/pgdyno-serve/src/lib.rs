//! The results directory as web pages for whoever sits at this machine: runs to sort, filter and compare, reports made as
//! they are asked for, and runs that are watched while they go.
//!
//! It does not measure, and it changes nothing: it reads what lies in the results directory. It listens on 127.0.0.1 only.
//! Requests go this way:
//!
//! ```text
//! server (connections, their limits) ─► guard (method, Host) ─► site (path → page) ─► pages/ ─► answer (headers)
//!                                                                 └─► store (the directory; no link is followed)
//! ```
//!
//! What a report is, the caller knows: [`Pages`] makes the same bytes as `pgdyno report` and `pgdyno compare`.

mod answer;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod pages;
mod query;
mod server;
mod site;
mod store;

use std::path::{Path, PathBuf};

use pgdyno_results::RunRecord;

pub use server::{ServeError, Server, Stopper};

/// A run whose page is to be made. Its record has the name of its directory for its id, so that all that belongs to it is
/// found there and nowhere else.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its `run.json`.
    pub path: PathBuf,
    /// What that says.
    pub record: RunRecord,
}

/// Why there is no page of a comparison, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoComparison {
    /// These runs cannot be held against each other; others can.
    Unfit(String),
    /// A file cannot be read.
    Failed(String),
}

/// What makes whole pages of runs.
pub trait Pages: Send + Sync {
    /// The report of a run in the results directory `results`, as HTML.
    ///
    /// # Errors
    /// In words, when a file beside the record cannot be read.
    fn report(&self, results: &Path, run: Run) -> Result<Vec<u8>, String>;

    /// The comparison of runs with those that are held against them, as HTML. Neither side is empty.
    ///
    /// # Errors
    /// When the runs cannot be compared, or a file cannot be read.
    fn compare(&self, results: &Path, base: Vec<Run>, new: Vec<Run>) -> Result<Vec<u8>, NoComparison>;
}
