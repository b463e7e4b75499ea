//! Checks of the data, before and after a run.

use pgdyno_load::{Baseline, CheckError, CheckProgress, Moment, SCHEMA};
use pgdyno_results::{CheckRecord, CheckSet};
use pgdyno_workload::DataSet;

use super::access::DataAccess;
use super::{foreign, loading};
use crate::drive::cpus::cpus;
use crate::events::RunEvent;
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};

/// When the data was checked last.
pub(crate) const AFTER_RUN: &str = "after the run";

/// Checks the data over as many connections as a load uses by default. Ctrl-C cancels the queries on the server.
pub fn check(
    access: &DataAccess<'_>,
    data: &dyn DataSet,
    moment: Moment<'_>,
    when: &str,
) -> Result<(CheckSet, Baseline)> {
    access.events.detail(&format!("checking the data {when}"));
    access.events.event(&RunEvent::ChecksBegin);
    let report_step = |step: &CheckProgress<'_>| {
        let CheckProgress { check, done, total, share, .. } = *step;
        access.events.event(&RunEvent::Checking { check, done, of: total, share });
    };
    let connections = loading::default_loaders(cpus());
    let checked = pgdyno_load::check(access.options, connections, data, access.caps, moment, &report_step, access.stop);
    access.events.ended();
    // Conditions on a column that another program's table lacks cannot be checked.
    if let Err(CheckError::Failed { .. }) = &checked
        && let Some(shape) = foreign::shape(access, data)?.filter(|shape| !shape.holds)
    {
        return Ok((CheckSet { when: when.to_owned(), checks: vec![shape] }, Baseline::default()));
    }
    let report = checked.map_err(|error| {
        let code = match &error {
            CheckError::Interrupted { .. } => Code::Interrupted,
            CheckError::Connect(_) => Code::Start,
            CheckError::Failed { .. } | CheckError::Schema(_) => Code::Check,
        };
        CommandError::new(code, error)
    })?;
    let record = |c: pgdyno_load::CheckResult| {
        let more = c.more.then(|| "and more".to_owned());
        CheckRecord {
            name: c.name,
            condition: c.condition,
            holds: c.holds,
            known: None,
            refused: c.refused,
            seconds: c.seconds,
            violations: c.violations.into_iter().chain(more).collect(),
        }
    };
    let mut checks: Vec<_> = report.checks.into_iter().map(record).collect();
    foreign::mark_known(access, data, &mut checks)?;
    if let Moment::AtRest | Moment::InFull = moment
        && let Some(shape) = foreign::shape(access, data)?
    {
        checks.insert(0, shape);
    }
    Ok((CheckSet { when: when.to_owned(), checks }, report.baseline))
}

/// Returns true if every check of a set holds, or is known to fail for a reason outside the run.
pub fn holds(set: &CheckSet) -> bool {
    set.checks.iter().all(CheckRecord::passes)
}

/// Returns the failure for wrong data before a run.
pub(crate) fn broken(set: &CheckSet) -> CommandError {
    let lines: Vec<String> = set
        .checks
        .iter()
        .filter(|c| !c.passes())
        .map(|c| format!("\n  {}: {}\n    {}", c.name, c.condition, c.violations.join("\n    ")))
        .collect();
    CommandError::new(Code::Check, format!("the data is broken {}:{}", set.when, lines.concat()))
        .hint(match set.checks.iter().all(|c| c.passes() || c.name == SCHEMA) {
            true => {
                "undo the changes, load it again with --replace, or measure it as it is with --allow-schema-changes: the \
                 record says so"
            }
            false => "load it again with --replace, or drive it anyway with --no-check",
        })
}
