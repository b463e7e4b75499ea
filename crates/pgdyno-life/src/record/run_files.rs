//! The files of a run: intervals, and samples of server and machines.

use std::path::Path;

use pgdyno_results::{RunRecord, Samples, StoreError, Timeline, read_samples, read_timeline};

/// The contents of the files beside a record, without the latencies, which are large.
#[derive(Default)]
pub(crate) struct RunFiles {
    pub(crate) timeline: Timeline,
    pub(crate) samples: Samples,
}

impl RunFiles {
    /// Reads the files. The record is at `path`; files that are not beside it are in the run directory in `results`.
    ///
    /// # Errors
    /// When a file cannot be read, or has another format.
    pub(crate) fn read(path: &Path, record: &RunRecord, results: &Path) -> Result<Self, StoreError> {
        let timeline = read_timeline(path, record, results)?;
        let samples = timeline.directory.as_deref().map(read_samples).transpose()?;
        Ok(Self { timeline, samples: samples.unwrap_or_default() })
    }
}
