//! Data that another program loaded or drove: whether pgdyno can drive it, and its known errors.

use pgdyno_load::{DataState, SCHEMA, place_routines};
use pgdyno_net::Admin;
use pgdyno_results::{CheckRecord, CheckSet};
use pgdyno_workload::{DataSet, Maker};

use crate::data::access::DataAccess;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// Installs the routines if they replace nothing.
pub(super) fn place(
    access: &DataAccess<'_>,
    admin: &mut Admin,
    data: &dyn DataSet,
    schema: &'static str,
) -> Result<()> {
    if place_routines(admin, data, access.caps, schema).or_fail(Code::Load)? {
        access.events.detail(&format!("pgdyno's routines are in schema {schema}"));
    }
    Ok(())
}

/// The name of the check of another program's tables.
const SHAPE: &str = "tables";

/// Checks which columns and keys that the workload needs are missing from another program's tables; none if pgdyno
/// loaded them.
pub(super) fn shape(access: &DataAccess<'_>, data: &dyn DataSet) -> Result<Option<CheckRecord>> {
    if data.other_maker().is_none() {
        return Ok(None);
    }
    let began = std::time::Instant::now();
    let mut admin = Admin::connect(access.options).or_fail(Code::Start)?;
    let DataState::Foreign { maker: Some(maker), .. } = pgdyno_load::state(&mut admin, data).or_fail(Code::Check)?
    else {
        return Ok(None);
    };
    let lacking = pgdyno_load::shortcomings(&mut admin, data, access.caps).or_fail(Code::Check)?;
    Ok(Some(CheckRecord {
        name: SHAPE.to_owned(),
        condition: format!("columns, types and unique keys are {maker}'s"),
        holds: lacking.is_empty(),
        known: None,
        refused: None,
        seconds: began.elapsed().as_secs_f64(),
        violations: lacking,
    }))
}

/// Reports the errors of the data that another program caused.
pub(super) fn mark_known(access: &DataAccess<'_>, data: &dyn DataSet, checks: &mut [CheckRecord]) -> Result<()> {
    let could_be = |maker: &Maker, checks: &[CheckRecord]| {
        checks.iter().any(|check| !check.holds && maker.deviation(&check.name).is_some())
    };
    if !data.other_maker().is_some_and(|maker| could_be(maker, checks)) {
        return Ok(());
    }
    let mut admin = Admin::connect(access.options).or_fail(Code::Start)?;
    let Some(maker) = pgdyno_load::driven_by(&mut admin, data).or_fail(Code::Check)? else { return Ok(()) };
    for check in checks.iter_mut().filter(|check| !check.holds) {
        check.known = maker.deviation(&check.name).map(|why| format!("known deviation of {}: {why}", maker.name));
    }
    Ok(())
}

/// Returns the tables of another program, and where they are.
fn describe(access: &DataAccess<'_>, admin: &mut Admin, data: &dyn DataSet) -> Result<(String, String)> {
    let (schema, objects) = pgdyno_load::foreign_objects(admin, data).or_fail(Code::Load)?;
    let text = format!("{} in schema {schema} of {}", objects.join(", "), access.options);
    Ok((schema, text))
}

/// Refuses data of another program that lacks tables.
pub(super) fn whole(access: &DataAccess<'_>, admin: &mut Admin, data: &dyn DataSet) -> Result<()> {
    let (schema, place) = describe(access, admin, data)?;
    let mut missing = Vec::new();
    for table in data.tables(access.caps) {
        let name = format!("{schema}.{}", pgdyno_net::quote::identifier(table.name));
        let sql = format!("select to_regclass({})", pgdyno_net::quote::literal(&name));
        if admin.query_opt(&sql).or_fail(Code::Load)?.is_none() {
            missing.push(table.name);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let id = data.meta().id;
    let error =
        format!("another program made {place}, and the other tables of {id} are missing: {}", missing.join(", "));
    Err(CommandError::new(Code::Load, error).hint(format!(
        "name another database in --target, or drop what conflicts and load with `pgdyno load {id} --force`"
    )))
}

/// Refuses data of another program that lacks the routines that the workload calls.
pub(super) fn drivable(
    access: &DataAccess<'_>,
    admin: &mut Admin,
    data: &dyn DataSet,
    maker: Option<&'static str>,
) -> Result<()> {
    let (_, place) = describe(access, admin, data)?;
    for routine in data.routines(access.caps).list {
        let sql = format!("select to_regprocedure({})", pgdyno_net::quote::literal(routine.signature));
        if admin.query_opt(&sql).or_fail(Code::Load)?.is_none() {
            let meta = data.meta();
            let name = routine.signature.split('(').next().unwrap_or(routine.signature);
            let whose = maker.unwrap_or("another program");
            let error = format!(
                "the tables of {} were made by {whose}, and the database lacks pgdyno's routine {name}(): {place}",
                meta.id
            );
            let hint = match data.other_maker().filter(|known| maker == Some(known.name)) {
                Some(maker) => format!(
                    "drive them with `{}`, which needs nothing more in the database, or name another database in --target",
                    maker.drive
                ),
                None => {
                    format!("name another database in --target, or replace them with `pgdyno load {} --force`", meta.id)
                }
            };
            return Err(CommandError::new(Code::Load, error).hint(hint));
        }
    }
    Ok(())
}

/// Returns the errors of another program's data before a run, as warnings: the run did not cause them, and these
/// conditions are not checked again after it.
pub(crate) fn broken_before(set: &CheckSet) -> Vec<String> {
    let warning = |c: &CheckRecord| {
        let why = c.known.clone().unwrap_or_else(|| "pgdyno did not load it".to_owned());
        format!(
            "condition {} does not hold before the run, so it proves nothing after it: {} ({why})",
            c.name, c.condition
        )
    };
    set.checks.iter().filter(|c| !c.holds && c.refused.is_none() && c.name != SCHEMA).map(warning).collect()
}

/// Returns the failure for another program's data that lacks columns or keys: figures with it would mean nothing.
pub(crate) fn unlike(set: &CheckSet, maker: &str, data: &dyn DataSet) -> Option<CommandError> {
    let shape = set.checks.iter().find(|check| check.name == SHAPE && !check.holds)?;
    let error = format!("the tables loaded by {maker} are incomplete: {}", shape.violations.join("; "));
    let failure = CommandError::new(Code::Check, error);
    Some(match data.other_maker().filter(|known| known.name == maker) {
        Some(known) => failure.hint(known.remedy),
        None => failure,
    })
}
