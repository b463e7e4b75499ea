//! A run second by second, and what was seen of server and machines meanwhile, as its own files tell.

use std::path::Path;

use pgdyno_results::{RunRecord, Samples, StoreError, Timeline, read_samples, read_timeline};

/// What the files beside a record have of a run. The latencies, which are many, stay where they are.
#[derive(Default)]
pub(crate) struct RunFiles {
    pub(crate) timeline: Timeline,
    pub(crate) samples: Samples,
}

impl RunFiles {
    /// Reads it back. The record is at `path`; where the rest is not beside it, it is in the run directory in `results`.
    ///
    /// # Errors
    /// When a file that is there cannot be read, or is none of ours.
    pub(crate) fn read(path: &Path, record: &RunRecord, results: &Path) -> Result<Self, StoreError> {
        let timeline = read_timeline(path, record, results)?;
        let samples = timeline.directory.as_deref().map(read_samples).transpose()?;
        Ok(Self { timeline, samples: samples.unwrap_or_default() })
    }
}
