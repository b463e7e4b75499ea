//! Samples of the server and of the machines: a directory `samples/` with a CSV file for each source.
//!
//! The first column of each file is `at_s`, the time in seconds since the clients began (negative before that); rows
//! of one look share it. The other columns are the source's own, with the names of the newest PostgreSQL; an unknown
//! value is empty. Counters are stored as the server shows them. [`SampleTable::rate`] computes differences, and
//! leaves out spans in which they were reset. docs/results.md has the columns.

mod read;
mod write;

pub use read::{Points, SampleTable, Samples, read_samples};
pub use write::SampleFiles;

/// The directory in a run directory.
pub(crate) const DIRECTORY: &str = "samples";

/// The first column of each file.
pub(crate) const AT: &str = "at_s";
