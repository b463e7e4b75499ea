//! The fourth room of a run: what its record says of what was measured. It is pure: neither a server nor a file is read.
//!
//! `fill` computes the figures, [`assess`] the warnings, the findings, the status and the exit code, from the record and its files
//! alone.

mod assess;
mod evidence;
mod fill;
#[cfg(test)]
mod tests;

use pgdyno_results::RunRecord;

use self::assess::assess;
use self::evidence::Evidence;
use crate::record::verdict::End;
use crate::run::context::RunContext;
use crate::run::loaded::Before;
use crate::run::measured::Measured;

/// A record that says how its run ended.
pub(crate) struct Judged {
    pub(crate) record: RunRecord,
    pub(crate) end: End,
}

/// Judges what was measured. `record` is the record so far.
pub(crate) fn judge(mut record: RunRecord, evidence: &Evidence<'_>) -> Judged {
    // Warnings about the figures come before those of the steps after the clients.
    let known = evidence.after.warnings_before.min(record.warnings.len());
    let later = record.warnings.split_off(known);
    let ending = fill::fill(&mut record, evidence);
    record.warnings.extend(later);
    let end = assess(&mut record, &ending, evidence.files);
    fill::add_after(&mut record, evidence);
    Judged { record, end }
}

/// Judges a run, and puts the judgement into its recording. Returns how the run ended.
pub(crate) fn record(context: &RunContext<'_>, measured: &mut Measured<'_>) -> End {
    let Some(record) = context.record.snapshot() else { return End::unrecorded() };
    let series = context.record.read(|recording| recording.series().clone());
    let nothing = Before::default();
    let files = measured.files.take();
    let evidence = Evidence {
        drive: &measured.loaded.workload.drive,
        driven: &measured.driven,
        series: &series,
        files: files.as_ref().map(|files| files.as_ref().map_err(String::as_str)),
        fidelity: context.request.source.fidelity(),
        before: measured.loaded.database.as_ref().map_or(&nothing, |(_, before)| before),
        after: &measured.after,
    };
    let Judged { record, end } = judge(record, &evidence);
    context.record.edit(|recording| {
        recording.record = record;
        recording.files = files.and_then(std::result::Result::ok);
    });
    end
}
