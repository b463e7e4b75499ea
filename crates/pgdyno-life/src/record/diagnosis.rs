//! Events and findings from the files of a finished run.

use pgdyno_diagnose::diagnose;
use pgdyno_results::{RECORD, StoreError};

use crate::record::Recording;
use crate::record::run_files::RunFiles;

/// Reads the intervals and the samples back, which the page also needs, and fills in events, findings and the warnings
/// that follow from them. Does nothing without samples.
pub(crate) fn add(recording: &mut Recording) {
    if recording.record.samples.is_none() {
        return;
    }
    if let Err(error) = read_and_add(recording) {
        recording.record.warnings.push(format!("the run was not diagnosed: {error}"));
    }
}

fn read_and_add(recording: &mut Recording) -> Result<(), StoreError> {
    let files = RunFiles::read(&recording.path().join(RECORD), &recording.record, recording.path())?;
    let record = &mut recording.record;
    let diagnosis = diagnose(record, &files.timeline, &files.samples);
    recording.files = Some(files);
    record.warnings.extend(diagnosis.warnings);
    // Events that the watchers noticed are already there.
    record.events.extend(diagnosis.events);
    record.events.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    record.findings = diagnosis.findings;
    record.clients_time = diagnosis.clients_time;
    Ok(())
}
