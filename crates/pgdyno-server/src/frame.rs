//! What one look at one source of samples brought.

use std::time::Instant;

/// Rows of one source, all of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The source: the name of its file in the run directory's `samples/`.
    pub source: &'static str,
    /// When.
    pub at: Instant,
    /// The names of the columns; the same for every frame of a source in a run.
    pub columns: &'static [&'static str],
    /// A value for each column; none where it is not known.
    pub rows: Vec<Vec<Option<String>>>,
}
