//! What was seen of the server and of the machines while a run went on: a directory `samples/` with a CSV file for each
//! source.
//!
//! The first column of each file is `at_s`, the moment in seconds since the clients began (negative before that); rows of
//! one look share it. The other columns are the source's own, with the newest PostgreSQL's names for them; a value that is
//! not known is empty. Counters stand as the server shows them: differences are taken when they are read, by
//! [`SampleTable::rate`], which leaves out the span in which they were reset. docs/results.md has the columns.

mod read;
mod write;

pub use read::{Points, SampleTable, Samples, read_samples};
pub use write::SampleFiles;

/// The directory in a run directory.
pub(crate) const DIRECTORY: &str = "samples";

/// The first column of each file.
pub(crate) const AT: &str = "at_s";
