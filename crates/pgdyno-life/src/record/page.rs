//! The HTML page of a run, from its run directory.

use std::path::{Path, PathBuf};

use pgdyno_report::html::{self, ReportRun};
use pgdyno_results::{RECORD, RunRecord, read_record, write_inside};

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::record::Recording;
use crate::record::run_files::RunFiles;

/// The page in a run directory.
pub const FILE: &str = "report.html";

/// Returns a run with its intervals, latencies and samples. Its record is at `path`; files that are not beside it are
/// in the run directory in `results`.
pub fn with_timeline(path: &Path, record: RunRecord, results: &Path) -> Result<ReportRun> {
    let files = RunFiles::read(path, &record, results).or_fail(Code::Start)?;
    with_latencies(record, files)
}

fn with_latencies(record: RunRecord, RunFiles { timeline, samples }: RunFiles) -> Result<ReportRun> {
    let mut run = ReportRun { samples, ..ReportRun::new(record, timeline) };
    run.timeline.each_latency(|line| run.latencies.add(&line)).or_fail(Code::Start)?;
    Ok(run)
}

/// Writes the page of a finished run into its directory.
pub fn write(recording: &mut Recording) -> Result<PathBuf> {
    let record = recording.record.clone();
    let run = match recording.files.take() {
        Some(files) => with_latencies(record, files)?,
        None => with_timeline(&recording.path().join(RECORD), record, recording.path())?,
    };
    let mut page = Vec::new();
    html::write(&[run], &mut page).or_fail(Code::Start)?;
    write_inside(recording.path(), FILE, &page).or_fail(Code::Start)?;
    Ok(recording.path().join(FILE))
}

/// Writes the page of a run again, after its record in `directory` was changed.
///
/// # Errors
/// When the run cannot be read, or its directory cannot be written.
pub fn write_again(directory: &Path) -> Result<()> {
    let path = directory.join(RECORD);
    let run = with_timeline(&path, read_record(&path).or_fail(Code::Start)?, directory)?;
    let mut page = Vec::new();
    html::write(&[run], &mut page).or_fail(Code::Start)?;
    write_inside(directory, FILE, &page).or_fail(Code::Start)
}
