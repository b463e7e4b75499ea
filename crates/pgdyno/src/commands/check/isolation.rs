//! `pgdyno check --isolation`: tests whether concurrent transactions are isolated, and whether committed ones survive a
//! crash.

use std::sync::atomic::AtomicBool;

use pgdyno_life::data;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::prepare::durability;
use pgdyno_life::target::{Kind, Target, places};
use pgdyno_load::{DataState, Rules, default_level, play, refresh_routines};
use pgdyno_net::Admin;
use pgdyno_server::kept;
use pgdyno_workload::{IsolationLevel, Workload};

use crate::commands::print;

use super::{Verdict, line};

/// What a user who operates the server can do.
const BY_HAND: &str = "pgdyno does not crash a server that it did not start; do it by hand: kill its postmaster (kill -9) \
                       during `pgdyno run`, start it again, and hold the run's New-Orders against the order numbers; or \
                       `pgdyno server start` one that is like it, and check that";

/// Runs the isolation tests, and prints the result of each.
pub(super) fn scenarios(
    access: &data::DataAccess<'_>,
    admin: &mut Admin,
    workload: &Workload,
    level: Option<IsolationLevel>,
) -> Result<Code> {
    let id = workload.meta.id;
    let actual = level.map_or_else(|| default_level(admin), Ok).or_fail(Code::Start)?;
    let scenarios = workload.audit.as_ref().map(|audit| audit.scenarios(actual)).unwrap_or_default();
    if scenarios.is_empty() {
        let error = format!("{id} has no isolation tests");
        return Err(Failure::new(Code::Start, error).hint("leave --isolation out; tproc-c has some"));
    }
    if access.caps.distributed_tables {
        let why = "the tables may lie on several nodes, and who waits for whom is known to each of them alone";
        print(line(Verdict::Skipped, "isolation", None, why, &[]).as_bytes())?;
        return Ok(Code::Success);
    }
    for data in &workload.data {
        if let DataState::Foreign { .. } = pgdyno_load::state(admin, data.as_ref()).or_fail(Code::Load)? {
            let error = "the tables were made by another program, and the isolation tests change data";
            let hint = format!("name a database in --target that `pgdyno load {id}` has loaded");
            return Err(Failure::new(Code::Load, error).hint(hint));
        }
        refresh_routines(admin, data.as_ref(), access.caps).or_fail(Code::Load)?;
    }
    let whose = if level.is_some() { "as given" } else { "as the server has it for this role and database" };
    print(format!("isolation level: {}, {whose}\n", actual.name()).as_bytes())?;
    let mut code = Code::Success;
    for (nth, scenario) in scenarios.iter().enumerate() {
        access.events.step(&format!("isolation test {}", scenario.clause), nth, scenarios.len());
        let played = play(access.options, scenario, &Rules { level, ..Rules::default() }, access.stop);
        access.events.ended();
        let result = played.map_err(durability::failure)?;
        let verdict = if result.holds { Verdict::Holds } else { Verdict::Broken };
        if !result.holds {
            code = Code::Check;
        }
        let again =
            result.tried_again.iter().map(|name| format!("{name} was tried again after a serialization failure"));
        let notes: Vec<_> = result.found.into_iter().chain(scenario.remark.map(str::to_owned)).chain(again).collect();
        print(line(verdict, scenario.clause, Some(result.seconds), scenario.title, &notes).as_bytes())?;
    }
    Ok(code)
}

/// Runs the durability test on a private server of the same version, and prints its result.
pub(super) fn durability(
    access: &data::DataAccess<'_>,
    target: &Target,
    workload: &Workload,
    stop: &AtomicBool,
) -> Result<Code> {
    let Some(test) = workload.audit.as_ref().map(|audit| audit.durability()) else { return Ok(Code::Success) };
    let Kind::Embedded(_) = target.kind else {
        let text = line(Verdict::Skipped, test.clause, None, test.title, &[BY_HAND.to_owned()]);
        print(text.as_bytes())?;
        return Ok(Code::Success);
    };
    let kept::Status::Running(like) = kept::status(&places()?).or_fail(Code::Server)? else {
        return Err(
            Failure::new(Code::Server, "the private server is gone").hint("start it again with `pgdyno server start`")
        );
    };
    let outcome = durability::test(&like, workload, &test, access.events, stop)?;
    let verdict = if outcome.found.is_empty() { Verdict::Holds } else { Verdict::Broken };
    let notes: Vec<_> = outcome.found.iter().cloned().chain([outcome.remark]).collect();
    print(line(verdict, test.clause, Some(outcome.seconds), test.title, &notes).as_bytes())?;
    Ok(if outcome.found.is_empty() { Code::Success } else { Code::Check })
}
