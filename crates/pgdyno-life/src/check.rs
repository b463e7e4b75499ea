//! Checks of loaded data: its conditions, its answers beside those of an earlier run and of another program, and the isolation
//! and durability of transactions.

mod earlier;
mod isolation;
mod oracle;

use std::path::Path;
use std::sync::Arc;

use pgdyno_load::{Baseline, Moment, NOT_CHECKABLE, SCHEMA, SCHEMA_CONDITION};
use pgdyno_plan::{TargetOrder, WorkloadOrder};
use pgdyno_report::forms::{CheckOutcome, NotedForm, OutcomeForm};
use pgdyno_results::CheckSet;
use pgdyno_workload::{DataSet, IsolationLevel};

use crate::data::reached::Reached;
use crate::data::{self, DataAccess};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::interrupt::Interrupt;
use crate::plan::workload_source::{ClientSetup, WorkloadSource};
use crate::target::{Target, reach};

/// What to check.
pub struct CheckRequest<'a> {
    /// The workload whose data is checked.
    pub workload: &'a WorkloadOrder,
    /// The server with the data.
    pub target: &'a TargetOrder,
    /// Whether isolation and durability are tested.
    pub has_isolation: bool,
    /// The isolation level of these tests; the server's own if absent.
    pub isolation_level: Option<IsolationLevel>,
    /// Whether answers are compared with those of another program.
    pub has_oracle: bool,
    /// The results directory with earlier runs.
    pub results: &'a Path,
}

/// Receives the outcomes of checks as they end.
pub trait CheckSink {
    /// Takes a line about the checks that follow.
    ///
    /// # Errors
    /// When it cannot be shown.
    fn heading(&mut self, text: &str) -> Result<()>;

    /// Takes the outcome of a check.
    ///
    /// # Errors
    /// When it cannot be shown.
    fn outcome(&mut self, outcome: OutcomeForm) -> Result<()>;

    /// Takes figures that must not change: only a run can check them.
    ///
    /// # Errors
    /// When they cannot be shown.
    fn noted(&mut self, noted: NotedForm) -> Result<()>;
}

/// Passes on that something was not checked, and why.
fn skip(output: &mut dyn CheckSink, when: &str, [name, condition]: [&str; 2], why: &[&str]) -> Result<()> {
    output.outcome(OutcomeForm {
        when: when.to_owned(),
        name: name.to_owned(),
        condition: condition.to_owned(),
        outcome: CheckOutcome::Skipped,
        seconds: None,
        notes: why.iter().map(|why| (*why).to_owned()).collect(),
    })
}

/// Passes on a set of checks, and returns the exit code: wrong data has 12.
///
/// # Errors
/// When they cannot be shown.
pub fn report_set(set: &CheckSet, output: &mut dyn CheckSink) -> Result<Code> {
    for check in &set.checks {
        let outcome = match (check.holds, &check.refused, &check.known) {
            (true, ..) => CheckOutcome::Holds,
            (false, Some(_), _) => CheckOutcome::Skipped,
            (false, None, Some(_)) => CheckOutcome::Known,
            (false, None, None) => CheckOutcome::Broken,
        };
        let refused = check.refused.iter().map(|why| match why.strip_prefix(NOT_CHECKABLE) {
            Some(why) => why.to_owned(),
            None => format!("the server cannot run this query: {why}"),
        });
        output.outcome(OutcomeForm {
            when: set.when.clone(),
            name: check.name.clone(),
            condition: check.condition.clone(),
            outcome,
            seconds: Some(check.seconds).filter(|_| check.refused.is_none()),
            notes: refused.chain(check.known.iter().chain(&check.violations).cloned()).collect(),
        })?;
    }
    Ok(if data::holds(set) { Code::Success } else { Code::Check })
}

/// Passes on the figures that must not change.
fn report_noted(data: &dyn DataSet, noted: &Baseline, output: &mut dyn CheckSink) -> Result<()> {
    let checks = data.checks();
    for (name, figures) in noted.figures() {
        let condition = checks.iter().find(|check| check.name == name).map_or("", |check| check.condition);
        output.noted(NotedForm { name: name.to_owned(), condition: condition.to_owned(), figures })?;
    }
    Ok(())
}

/// Checks loaded data, and returns the exit code: that of the first check that failed.
///
/// # Errors
/// When the data cannot be reached, or a check cannot be carried out.
pub fn check(
    request: &CheckRequest<'_>,
    interrupt: &Interrupt,
    events: Arc<dyn EventSink>,
    output: &mut dyn CheckSink,
) -> Result<Code> {
    let order = request.workload;
    let source = WorkloadSource::read(order)?;
    let workload = source.build(order, None, None, &ClientSetup::NONE)?;
    if request.has_oracle {
        oracle::admit(&workload)?;
    }
    let (database, mut admin) = Reached::reach(request.target, &workload, interrupt, events)?;
    let workload = database.as_loaded(&mut admin, order, &source, &workload)?;
    let access = database.access(&interrupt.stop);
    let mut codes = Vec::new();
    if request.has_isolation {
        reach::admit_change(access.caps, "check --isolation")?;
        reach::admit_sessions(access.caps, "check --isolation")?;
        // The test's sessions end cleanly on a signal: they are cancelled and rolled back, so that none of them keeps
        // waiting.
        let plain = DataAccess { options: database.plain(), ..access };
        let tested = isolation::scenarios(&plain, &mut database.admin()?, &workload, request.isolation_level, output);
        codes.push(interrupt.attribute_to_signal(tested).map_err(rolled_back)?);
        let target = Target::resolve(request.target)?;
        codes.push(isolation::durability(&access, &target, &workload, output)?);
    }
    for data in &workload.data {
        let (set, noted) = data::check(&access, data.as_ref(), Moment::InFull, "as it is")?;
        if let Some(why) = noted.schema_unknown() {
            skip(output, &set.when, [SCHEMA, SCHEMA_CONDITION], &[why])?;
        }
        codes.push(report_set(&set, output)?);
        report_noted(data.as_ref(), &noted, output)?;
    }
    // The first session may have been idle for long.
    codes.push(earlier::compare(&access, &mut database.admin()?, &workload, request.results, output)?);
    if request.has_oracle {
        codes.push(oracle::compare(&access, &mut database.admin()?, &workload, output)?);
    }
    Ok(Code::first_bad(codes))
}

/// Adds to the failure what happened to the isolation tests when a signal ended them.
fn rolled_back(failure: CommandError) -> CommandError {
    let text = failure.text();
    match failure.code() {
        Code::Interrupted if !text.contains("rolled back") => CommandError::new(
            Code::Interrupted,
            format!("{text}; the transactions under way were cancelled and rolled back"),
        ),
        _ => failure,
    }
}
