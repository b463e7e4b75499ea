//! Events and findings from the files of a finished run.

use pgdyno_diagnose::diagnose;
use pgdyno_results::{RECORD, StoreError};

use crate::events::EventSink;
use crate::record::Recording;
use crate::record::run_files::RunFiles;

/// Reads the intervals and the samples back, which the page also needs, and fills in events, findings and the warnings
/// that follow from them. Does nothing without samples.
pub(crate) fn add(recording: &mut Recording, events: &dyn EventSink) {
    if recording.record.samples.is_none() {
        return;
    }
    if let Err(error) = read_and_add(recording, events) {
        let warning = format!("what held the server back could not be found out: {error}");
        events.warn(&warning);
        recording.record.warnings.push(warning);
    }
}

fn read_and_add(recording: &mut Recording, events: &dyn EventSink) -> Result<(), StoreError> {
    let files = RunFiles::read(&recording.path().join(RECORD), &recording.record, recording.path())?;
    let record = &mut recording.record;
    let diagnosis = diagnose(record, &files.timeline, &files.samples);
    recording.files = Some(files);
    for warning in diagnosis.warnings {
        events.warn(&warning);
        record.warnings.push(warning);
    }
    // Events that the watchers noticed are already there.
    record.events.extend(diagnosis.events);
    record.events.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    record.findings = diagnosis.findings;
    record.clients_time = diagnosis.clients_time;
    Ok(())
}
