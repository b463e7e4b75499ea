//! Warnings, findings and the end of a run, from its record and its files.

use pgdyno_diagnose::diagnose;
use pgdyno_results::{CheckRecord, FaultOutcome, RunRecord, SampleTable, Status, Warning};
use pgdyno_samples::{horizon, tables};

use crate::data::AFTER_RUN;
use crate::exit_code::Code;
use crate::record::ending::Ending;
use crate::record::run_files::RunFiles;
use crate::record::verdict::{self, End};
use crate::record::{figures, warnings};

/// Adds warnings, events and findings to a record with figures, and returns how the run ended. Without samples nothing is
/// diagnosed; an error says why the files could not be read.
pub(crate) fn assess(
    record: &mut RunRecord,
    ending: &Ending,
    files: Option<std::result::Result<&RunFiles, &str>>,
) -> End {
    // What the figures show comes first, then what was known before.
    let mut all = warnings::from_figures(record, ending);
    all.extend(figures::broken_rules(record));
    let mut end = verdict::of(record, ending);
    match files {
        None => {}
        Some(Err(why)) => all.push(Warning::NotDiagnosed { why: why.to_owned() }),
        Some(Ok(files)) => {
            all.extend(add_diagnosis(record, files));
            add_dead_rows(record, files);
        }
    }
    all.append(&mut record.warnings);
    record.warnings = all.into();
    if ending.is_silent && record.ledger.is_none() {
        end = verdict::without_answer(end, record, ending.cancelled);
    }
    // A ledger says more exactly which commits the server has.
    let differing = ending.differing_count.clone().filter(|_| record.ledger.is_none());
    if let Some(why) = differing.filter(|_| end.status == Status::Complete) {
        end = End { status: Status::Invalid, reason: Some(why), code: Code::Run };
    }
    let mut checks = record.checks.iter().filter(|set| set.when == AFTER_RUN).flat_map(|set| &set.checks);
    if !checks.all(CheckRecord::passes) {
        let reason = Some("the data is broken after the run".to_owned());
        end = End { status: Status::Invalid, reason, code: Code::Check };
    }
    if let Some(reason) = verdict::unproven(record).filter(|_| end.status == Status::Complete) {
        end = End { status: Status::Invalid, reason: Some(reason), code: Code::Run };
    }
    if let Some(reason) = verdict::broken_promise(record) {
        end = End { status: Status::Invalid, reason: Some(reason), code: Code::CommitsLost };
    }
    if record.faults.iter().any(|fault| fault.outcome == FaultOutcome::Failed) && end.code == Code::Success {
        end.code = Code::Hook;
    }
    if !figures::judge_objectives(record) && end.code == Code::Success {
        end.code = Code::Missed;
    }
    end
}

/// Adds events and findings. Returns the warnings that follow from them.
fn add_diagnosis(record: &mut RunRecord, files: &RunFiles) -> Vec<Warning> {
    let diagnosis = diagnose(record, &files.timeline, &files.samples);
    // Events that the watchers noticed are already there.
    record.events.extend(diagnosis.events);
    record.events.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    record.findings = diagnosis.findings;
    record.clients_time = diagnosis.clients_time;
    diagnosis.warnings
}

/// Adds to the figures of queries what they may have kept from being removed.
fn add_dead_rows(record: &mut RunRecord, files: &RunFiles) {
    let Some(analytics) = &mut record.analytics else { return };
    let whole = (0.0, f64::INFINITY);
    let of_table = |(name, table): (String, SampleTable)| {
        let most = table.gauge(tables::N_DEAD_TUP).max(whole.0, whole.1).filter(|most| *most > 0.0)?;
        Some((name, most as u64))
    };
    let by_table = files.samples.of(tables::SOURCE).by(tables::TABLE);
    analytics.dead_rows_max = by_table.into_iter().filter_map(of_table).collect();
    let held = files.samples.of(horizon::SOURCE).gauge(horizon::HELD_S);
    analytics.oldest_snapshot_s_max = held.max(whole.0, whole.1);
}
