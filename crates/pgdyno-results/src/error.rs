//! Errors of writing and reading results.

use std::io;
use std::path::{Path, PathBuf};

use crate::record::FORMAT_VERSION;

/// The error when results could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("failed to {what} {}: {source}", path.display())]
    Io {
        /// The action.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No run can be stored there.
    #[error("failed to write to the results directory {}: {source}; name another one with --out", path.display())]
    Unwritable {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A record of a newer pgdyno.
    #[error(
        "{} is a record of format {found}, and this pgdyno knows formats up to {FORMAT_VERSION}; read it with a newer \
         pgdyno, and keep the file: this one does not touch it", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// Not a record.
    #[error("{} is not a run record: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file beside a record that cannot be parsed.
    #[error("failed to read {}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The suite has runs, but none of such a cell, or it could be several.
    #[error("'{cell}' is not one cell of the suite '{suite}'; its cells are {}", cells.join(", "))]
    NoSuchCell {
        /// The suite.
        suite: String,
        /// The cell asked for.
        cell: String,
        /// The cells of its runs.
        cells: Vec<String>,
    },
    /// No such run.
    #[error("no run '{name}' in {}; `pgdyno list runs` names those that are there", results.display())]
    NoSuchRun {
        /// The name asked for.
        name: String,
        /// The place searched.
        results: PathBuf,
    },
    /// No such measurement of many runs.
    #[error("no record '{name}' in {}: give the name of one that is there, or 'last'", directory.display())]
    NoSuchRecord {
        /// The name asked for.
        name: String,
        /// The directory of its kind.
        directory: PathBuf,
    },
}

impl StoreError {
    /// Returns true if something else than an ordinary file, such as a link, a pipe or a directory, has the name of the file.
    #[must_use]
    pub fn is_other_file(&self) -> bool {
        let kinds = [io::ErrorKind::InvalidInput, io::ErrorKind::IsADirectory];
        matches!(self, Self::Io { source, .. } if kinds.contains(&source.kind()))
    }
}

pub(crate) fn io_error<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> StoreError + 'a {
    move |source| StoreError::Io { what, path: path.to_owned(), source }
}

pub(crate) fn malformed(path: &Path, why: String) -> StoreError {
    StoreError::Unreadable { path: path.to_owned(), why }
}
