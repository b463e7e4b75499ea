//! Provides the data of a run: takes what is there, or loads it.

use pgdyno_load::{DataState, LoadError, ResumableLoad, Shared, refresh_routines};
use pgdyno_net::Admin;
use pgdyno_plan::{LoadWhen, Plan};
use pgdyno_results::LoadRecord;
use pgdyno_text::units;
use pgdyno_workload::{Capabilities, DataSet, Meta};

use super::access::DataAccess;
use super::foreign;
use super::load::load;
use super::loading::LoadSettings;
use super::size::{other, other_size_of_another, rows_progress, suits};
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// The data that a run uses.
#[derive(Debug, Default)]
pub(crate) struct Provided {
    /// The record of the load, if there was one.
    pub(crate) load: Option<LoadRecord>,
    /// The other program that loaded the data, if one did: errors in it are not the run's fault.
    pub(crate) maker: Option<&'static str>,
}

/// How a run wants its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    choice: LoadWhen,
    loading: LoadSettings,
    /// Whether the schema may differ from what was loaded.
    schema_may_differ: bool,
}

impl Wanted {
    /// Returns what a plan says.
    pub(crate) fn of(plan: &Plan) -> Self {
        let loading = LoadSettings::planned(plan);
        Self { choice: plan.load.choice, loading, schema_may_differ: plan.load.allow_schema_changes }
    }
}

/// Makes sure that the data is there as it is wanted; `shared` helps with a load.
pub(crate) fn provide(
    access: &DataAccess<'_>,
    admin: &mut Admin,
    data: &dyn DataSet,
    wanted: &Wanted,
    shared: Option<&dyn Shared>,
) -> Result<Provided> {
    let Wanted { choice, loading, schema_may_differ } = *wanted;
    if !data.meta().has_data() {
        return Ok(Provided::default());
    }
    let state = pgdyno_load::state(admin, data).or_fail(Code::Load)?;
    if let (DataState::Foreign { scale: None, .. }, LoadWhen::IfMissing | LoadWhen::Never) = (&state, choice) {
        foreign::whole(access, admin, data)?;
    }
    match (state, choice) {
        (DataState::Complete(_), LoadWhen::IfMissing | LoadWhen::Never) => {
            match data.routines(access.caps).schema {
                None => own_routines(access, admin, data, schema_may_differ)?,
                Some(schema) => foreign::place(access, admin, data, schema)?,
            }
            return Ok(Provided::default());
        }
        (DataState::Foreign { scale: Some(scale), maker }, LoadWhen::IfMissing | LoadWhen::Never) => {
            return of_another(access, admin, data, scale, maker);
        }
        (DataState::Other(stamp), LoadWhen::IfMissing | LoadWhen::Never) => return Err(other(data, &stamp)),
        (DataState::Taken(taken), _) => return Err(CommandError::new(Code::Load, LoadError::Taken(Box::new(taken)))),
        (DataState::Absent | DataState::Foreign { .. }, LoadWhen::Never) => return Err(absent(data.meta())),
        (DataState::Partial { kept, damage, .. }, LoadWhen::Never) => {
            return Err(incomplete(data.meta(), kept, &damage));
        }
        (DataState::Partial { kept: None, ref damage, .. }, LoadWhen::IfMissing) if damage.is_empty() => {
            access.events.note("an earlier load was not finished and cannot be resumed: loading again");
        }
        // The load itself refuses data of another program whose size cannot be read.
        (DataState::Absent | DataState::Foreign { .. } | DataState::Partial { .. }, LoadWhen::IfMissing)
        | (_, LoadWhen::Always) => {}
    }
    let record = load(access, data, &loading.options(choice == LoadWhen::Always, false), shared)?;
    Ok(Provided { load: Some(record), maker: None })
}

/// Takes data of another program as it is, if it has the size that is asked for and all that the workload needs.
fn of_another(
    access: &DataAccess<'_>,
    admin: &mut Admin,
    data: &dyn DataSet,
    scale: u64,
    maker: Option<&'static str>,
) -> Result<Provided> {
    let meta = data.meta();
    let (name, asked) = (meta.scale_name, data.scale());
    if !suits(meta, scale, asked) {
        return Err(other_size_of_another(name, scale, asked, maker));
    }
    foreign::whole(access, admin, data)?;
    let size = units::sized(name, &units::count(asked));
    let whose = maker.unwrap_or("another program");
    let of_all = match asked < scale {
        true => format!(", the first of {} keys", units::count(scale)),
        false => String::new(),
    };
    access.events.note(&format!("driving data loaded by {whose} as it is: {size}{of_all}"));
    match data.routines(access.caps).schema {
        None => foreign::drivable(access, admin, data, maker)?,
        Some(schema) => foreign::place(access, admin, data, schema)?,
    }
    Ok(Provided { load: None, maker: Some(whose) })
}

/// Returns the error for data that is not there and may not be loaded.
fn absent(meta: &Meta) -> CommandError {
    let error = format!("the database holds no data of {}, and --no-load is given", meta.id);
    let hint = format!("leave out --no-load, or run `pgdyno load {}` first", meta.id);
    CommandError::new(Code::Load, error).hint(hint)
}

/// Returns the error for data that is there in part, and may not be loaded.
fn incomplete(meta: &Meta, kept: Option<ResumableLoad>, damage: &[String]) -> CommandError {
    if let Some(ResumableLoad { rows, rows_expected: Some(all) }) = kept {
        let progress = rows_progress(rows, all);
        let error = format!("the data of {} is incomplete: a load was interrupted at {progress}", meta.id);
        return CommandError::new(Code::Load, error).hint("leave out --no-load to resume it");
    }
    if !damage.is_empty() {
        let error = format!("the data of {} is damaged: {}", meta.id, damage.join("; "));
        return CommandError::new(Code::Load, error)
            .hint(format!("restore it, or drop the rest and load again with `pgdyno load {} --replace`", meta.id));
    }
    let error = format!("the data of {} is incomplete: a load was never finished", meta.id);
    CommandError::new(Code::Load, error).hint("leave out --no-load to load again")
}

/// Replaces pgdyno's routines of an older version. Routines that the user changed stay.
fn own_routines(access: &DataAccess<'_>, admin: &mut Admin, data: &dyn DataSet, schema_may_differ: bool) -> Result<()> {
    let changed = changed_routines(admin, data, access.caps)?;
    if changed.is_empty() {
        refresh_routines(admin, data, access.caps).or_fail(Code::Load)?;
    } else if !schema_may_differ {
        let error = format!("routines of {} were changed by hand: {}", data.meta().id, changed.join("; "));
        return Err(CommandError::new(Code::Check, error).hint(
            "drop them, and the next run installs its own; or measure them as they are with --allow-schema-changes",
        ));
    }
    Ok(())
}

/// Returns the routines that differ from those that pgdyno installed.
fn changed_routines(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<Vec<String>> {
    let differences = pgdyno_load::differences(admin, data, caps).or_fail(Code::Load)?.unwrap_or_default();
    let changed = differences.iter().filter(|difference| difference.part.is_routine() && difference.is.is_some());
    Ok(changed.map(ToString::to_string).collect())
}
