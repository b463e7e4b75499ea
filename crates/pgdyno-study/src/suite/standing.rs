//! The state of an execution's runs, from their records.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_report::suite::SuiteRun;
use pgdyno_results::{RECORD, RunRecord, Status, is_listed, list_run, write_json};

use super::execution::{ExecutionState, Planned};
use crate::runner;

/// A run that will not be repeated automatically.
#[derive(Clone, Debug)]
pub struct CompletedRun {
    /// Its record.
    pub record: RunRecord,
    /// Why it counts as failed.
    pub failure: Option<String>,
}

impl CompletedRun {
    /// Returns how long it took, including its load.
    pub fn seconds(&self) -> Option<f64> {
        let at = |text: &str| text.parse::<Timestamp>().ok();
        let began = at(&self.record.started_at)?;
        Some(at(self.record.ended_at.as_deref()?)?.duration_since(began).as_secs_f64())
    }
}

/// Returns how each planned run ended; none if it is not done yet.
pub fn standings(state: &ExecutionState) -> Result<Vec<Option<CompletedRun>>> {
    let own: Vec<_> = runner::records(&state.results)?
        .filter(|(_, record)| {
            let suite = record.plan.suite.as_ref();
            suite.is_some_and(|suite| suite.suite == state.suite && suite.id == state.id)
        })
        .collect();
    Ok((0..state.runs.len()).map(|nth| standing(state, nth, &own)).collect())
}

/// Returns the runs of an execution for its table.
pub fn runs<'a>(state: &'a ExecutionState, standings: &'a [Option<CompletedRun>]) -> Vec<SuiteRun<'a>> {
    let run = |(planned, done): (&'a Planned, &'a Option<CompletedRun>)| SuiteRun {
        cell: &planned.run,
        record: done.as_ref().map(|done| &done.record),
        failure: done.as_ref().and_then(|done| done.failure.as_deref()),
    };
    state.runs.iter().zip(standings).map(run).collect()
}

/// Returns how the run `nth` ended, from the records of the execution, the newest first.
pub fn standing(state: &ExecutionState, nth: usize, records: &[(PathBuf, RunRecord)]) -> Option<CompletedRun> {
    let place = Some(state.place(nth));
    let counts =
        |(_, record): &&(PathBuf, RunRecord)| record.plan.suite == place && !state.superseded.contains(&record.id);
    let mut counting = records.iter().filter(counts);
    // A complete run always counts, whatever came after it.
    let complete = counting.clone().find(|(_, record)| record.status == Status::Complete);
    let (_, record) = complete.or_else(|| counting.next())?.clone();
    let reason = || record.reason.clone().unwrap_or_else(|| record.status.name().to_owned());
    let failure = match record.status {
        Status::Complete => None,
        Status::Invalid | Status::Failed => Some(reason()),
        Status::Interrupted => Some(state.failed.get(&nth)?.clone()),
    };
    Some(CompletedRun { record, failure })
}

/// Adds the run's line to `results.csv` if it is missing. The runs count without it.
pub fn list(results: &Path, record: &RunRecord, events: &dyn EventSink) {
    let listed =
        is_listed(results, &record.id).and_then(|is_there| if is_there { Ok(()) } else { list_run(results, record) });
    if let Err(error) = listed {
        events.warn(&error.to_string());
    }
}

/// Adds lines to `results.csv` for runs that were killed before they could write theirs.
pub fn list_all(state: &ExecutionState, events: &dyn EventSink) -> Result<()> {
    for (_, record) in runner::records(&state.results)? {
        let suite = record.plan.suite.as_ref();
        if suite.is_some_and(|suite| suite.suite == state.suite && suite.id == state.id) {
            list(&state.results, &record, events);
        }
    }
    Ok(())
}

/// Marks a run as failed in its record, if no other process will write that.
pub fn amend(path: &Path, record: &mut RunRecord, reason: &str, code: Code) -> Result<()> {
    record.status = Status::Failed;
    record.reason = Some(reason.to_owned());
    record.exit_code = code as u8;
    record.ended_at.get_or_insert_with(|| Timestamp::now().to_string());
    write_json(path, RECORD, record).or_fail(Code::Run)
}
