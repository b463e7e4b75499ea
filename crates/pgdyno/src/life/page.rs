//! The page of a run, from what its run directory has of it.

use std::path::{Path, PathBuf};

use pgdyno_report::html::{self, ReportRun};
use pgdyno_results::{RunRecord, read_samples, read_timeline, write_whole};

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};

/// The page in a run directory.
pub(crate) const FILE: &str = "report.html";

/// A run with its intervals, latencies and samples. Its record is at `path`; where the rest is not beside it, it is in the
/// run directory in `results`.
pub(crate) fn with_timeline(path: &Path, record: RunRecord, results: &Path) -> Result<ReportRun> {
    let timeline = read_timeline(path, &record, results).or_fail(Code::Start)?;
    let mut run = ReportRun::new(record, timeline);
    run.timeline.each_latency(|line| run.latencies.add(&line)).or_fail(Code::Start)?;
    if let Some(directory) = &run.timeline.directory {
        run.samples = read_samples(directory).or_fail(Code::Start)?;
    }
    Ok(run)
}

/// Writes the page of the run in `directory`, whose record this is, into it.
pub(crate) fn write(directory: &Path, record: &RunRecord) -> Result<PathBuf> {
    let results = directory.parent().unwrap_or(directory);
    let run = with_timeline(&directory.join("run.json"), record.clone(), results)?;
    let mut page = Vec::new();
    html::write(&[run], &mut page).or_fail(Code::Start)?;
    let file = directory.join(FILE);
    write_whole(&file, &page).or_fail(Code::Start)?;
    Ok(file)
}
