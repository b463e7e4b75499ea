//! `pgdyno check --isolation`: tests whether concurrent transactions are isolated, and whether committed ones survive a
//! crash.

use crate::data;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::prepare::durability;
use crate::target::{Target, places};
use pgdyno_load::{DataState, ScenarioOptions, default_level, play, refresh_routines};
use pgdyno_net::Admin;
use pgdyno_report::forms::{CheckOutcome, OutcomeForm};
use pgdyno_server::kept;
use pgdyno_workload::{IsolationLevel, Workload};

use super::{CheckSink, skip};

/// What these tests are called beside other checks.
const WHEN: &str = "isolation";

/// What a user who operates the server can do.
const BY_HAND: &str = "pgdyno does not crash a server that it did not start; do it by hand: kill its postmaster (kill -9) \
                       during `pgdyno run`, start it again, and hold the run's New-Orders against the order numbers; or \
                       `pgdyno server start` one that is like it, and check that";

/// Runs the isolation tests, and passes on the result of each.
pub(super) fn scenarios(
    access: &data::DataAccess<'_>,
    admin: &mut Admin,
    workload: &Workload,
    level: Option<IsolationLevel>,
    output: &mut dyn CheckSink,
) -> Result<Code> {
    let id = workload.meta.id;
    let actual = level.map_or_else(|| default_level(admin), Ok).or_fail(Code::Start)?;
    let scenarios = workload.audit.as_ref().map(|audit| audit.scenarios(actual)).unwrap_or_default();
    if scenarios.is_empty() {
        let error = format!("{id} has no isolation tests");
        return Err(CommandError::new(Code::Start, error).hint("leave --isolation out; tproc-c has some"));
    }
    if access.caps.distributed_tables {
        let why = "the tables may lie on several nodes, and who waits for whom is known to each of them alone";
        skip(output, WHEN, ["isolation", why], &[])?;
        return Ok(Code::Success);
    }
    for data in &workload.data {
        if let DataState::Foreign { .. } = pgdyno_load::state(admin, data.as_ref()).or_fail(Code::Load)? {
            let error = "the tables were made by another program, and the isolation tests change data";
            let hint = format!("name a database in --target that `pgdyno load {id}` has loaded");
            return Err(CommandError::new(Code::Load, error).hint(hint));
        }
        refresh_routines(admin, data.as_ref(), access.caps).or_fail(Code::Load)?;
    }
    let whose = if level.is_some() { "as given" } else { "as the server has it for this role and database" };
    output.heading(&format!("isolation level: {}, {whose}", actual.name()))?;
    let mut code = Code::Success;
    for (nth, scenario) in scenarios.iter().enumerate() {
        access.events.step(&format!("isolation test {}", scenario.clause), nth, scenarios.len());
        let played =
            play(access.options, scenario, &ScenarioOptions { level, ..ScenarioOptions::default() }, access.stop);
        access.events.ended();
        let result = played.map_err(durability::failure)?;
        let outcome = if result.holds { CheckOutcome::Holds } else { CheckOutcome::Broken };
        if !result.holds {
            code = Code::Check;
        }
        let again =
            result.tried_again.iter().map(|name| format!("{name} was tried again after a serialization failure"));
        let notes: Vec<_> = result.found.into_iter().chain(scenario.remark.map(str::to_owned)).chain(again).collect();
        output.outcome(tested(outcome, scenario.clause, scenario.title, result.seconds, notes))?;
    }
    Ok(code)
}

/// Runs the durability test on a private server of the same version, and passes on its result.
pub(super) fn durability(
    access: &data::DataAccess<'_>,
    target: &Target,
    workload: &Workload,
    output: &mut dyn CheckSink,
) -> Result<Code> {
    let Some(test) = workload.audit.as_ref().map(|audit| audit.durability()) else { return Ok(Code::Success) };
    if !target.is_private() {
        skip(output, WHEN, [test.clause, test.title], &[BY_HAND])?;
        return Ok(Code::Success);
    }
    let kept::KeptServerStatus::Running(like) = kept::status(&places()?).or_fail(Code::Server)? else {
        return Err(CommandError::new(Code::Server, "the private server is gone")
            .hint("start it again with `pgdyno server start`"));
    };
    let result = durability::test(&like, workload, &test, access.events, access.stop)?;
    let holds = result.found.is_empty();
    let outcome = if holds { CheckOutcome::Holds } else { CheckOutcome::Broken };
    let notes = result.found.into_iter().chain([result.remark]).collect();
    output.outcome(tested(outcome, test.clause, test.title, result.seconds, notes))?;
    Ok(if holds { Code::Success } else { Code::Check })
}

/// Returns the outcome of a test that ran.
fn tested(outcome: CheckOutcome, clause: &str, title: &str, seconds: f64, notes: Vec<String>) -> OutcomeForm {
    let (name, condition) = (clause.to_owned(), title.to_owned());
    OutcomeForm { when: WHEN.to_owned(), name, condition, outcome, seconds: Some(seconds), notes }
}
