//! Result of one look at a source of samples.

use std::time::Instant;

/// Rows of one source, all of the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The source: name of its file in the run directory's `samples/`.
    pub source: &'static str,
    /// The time.
    pub at: Instant,
    /// Names of the columns; the same for every frame of a source in a run.
    pub columns: &'static [&'static str],
    /// A value for each column; `None` if unknown.
    pub rows: Vec<Vec<Option<String>>>,
}
