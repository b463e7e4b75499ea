//! The data of a run: found or loaded, and checked before and after.

pub(crate) mod before_run;
pub(crate) mod copies;
pub mod disk;
pub(crate) mod foreign;
pub mod keep;
pub mod loaded;
pub mod loading;
pub(crate) mod rights;
pub(crate) mod spared;

use pgdyno_text::units;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use pgdyno_load::{
    Baseline, CheckError, CheckProgress, DataState, Kept, LoadError, LoadOptions, LoadReport, Moment, Progress as Step,
    SCHEMA, ServerSettings, Shared, Stamp, refresh_routines,
};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::{LoadChoice, Plan};
use pgdyno_results::{CheckRecord, CheckSet, LoadRecord, LoadTable};
use pgdyno_workload::{Capabilities, DataSet, Meta};

use crate::data::loading::LoadSettings;
use crate::drive::cpus::cpus;
use crate::events::{Event, EventSink};
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::target::{lock, reach};

/// Access to the server for work on the data.
#[derive(Clone, Copy)]
pub struct DataAccess<'a> {
    /// How to connect to the server.
    pub options: &'a ConnectOptions,
    /// What it can do.
    pub caps: &'a Capabilities,
    /// Receives the progress.
    pub events: &'a dyn EventSink,
    /// Ends the work when it becomes true.
    pub stop: &'a AtomicBool,
    /// The data directory of a private server.
    pub data_dir: Option<&'a Path>,
}

/// The data that a run uses.
#[derive(Debug, Default)]
pub(crate) struct Provided {
    /// The record of the load, if there was one.
    pub(crate) load: Option<LoadRecord>,
    /// The other program that loaded the data, if one did: errors in it are not the run's fault.
    pub(crate) maker: Option<&'static str>,
}

/// Makes sure that the data is there as `choice` asks; `shared` helps with a load.
pub(crate) fn provide(
    access: &DataAccess<'_>,
    admin: &mut Admin,
    data: &dyn DataSet,
    choice: LoadChoice,
    loading: LoadSettings,
    schema_may_differ: bool,
    shared: Option<&dyn Shared>,
) -> Result<Provided> {
    let meta = data.meta();
    if !meta.has_data() {
        return Ok(Provided::default());
    }
    let (name, asked) = (meta.scale_name, data.scale());
    let state = pgdyno_load::state(admin, data).or_fail(Code::Load)?;
    if let (DataState::Foreign { scale: None, .. }, LoadChoice::IfMissing | LoadChoice::Never) = (&state, choice) {
        foreign::whole(access, admin, data)?;
    }
    match (state, choice) {
        (DataState::Complete(_), LoadChoice::IfMissing | LoadChoice::Never) => {
            match data.routines(access.caps).schema {
                None => own_routines(access, admin, data, schema_may_differ)?,
                Some(schema) => foreign::place(access, admin, data, schema)?,
            }
            return Ok(Provided::default());
        }
        (DataState::Foreign { scale: Some(scale), maker }, LoadChoice::IfMissing | LoadChoice::Never) => {
            if !suits(meta, scale, asked) {
                return Err(other_size_of_another(name, scale, asked, maker));
            }
            foreign::whole(access, admin, data)?;
            let size = units::count(asked);
            let whose = maker.unwrap_or("another program");
            let of_all = match asked < scale {
                true => format!(", the first of {} keys", units::count(scale)),
                false => String::new(),
            };
            access.events.note(&format!("driving data loaded by {whose} as it is: {name} {size}{of_all}"));
            match data.routines(access.caps).schema {
                None => foreign::drivable(access, admin, data, maker)?,
                Some(schema) => foreign::place(access, admin, data, schema)?,
            }
            return Ok(Provided { load: None, maker: Some(whose) });
        }
        (DataState::Other(stamp), LoadChoice::IfMissing | LoadChoice::Never) => return Err(other(data, &stamp)),
        (DataState::Taken(taken), _) => return Err(Failure::new(Code::Load, LoadError::Taken(Box::new(taken)))),
        (DataState::Absent | DataState::Foreign { .. }, LoadChoice::Never) => {
            let error = format!("the database holds no data of {}, and --no-load is given", meta.id);
            let hint = format!("leave out --no-load, or run `pgdyno load {}` first", meta.id);
            return Err(Failure::new(Code::Load, error).hint(hint));
        }
        (DataState::Partial { kept: Some(Kept { rows, rows_expected: Some(all) }), .. }, LoadChoice::Never) => {
            let error = format!("the data of {} is incomplete: a load was interrupted at {}", meta.id, far(rows, all));
            return Err(Failure::new(Code::Load, error).hint("leave out --no-load to resume it"));
        }
        (DataState::Partial { damage, .. }, LoadChoice::Never) if !damage.is_empty() => {
            let error = format!("the data of {} is damaged: {}", meta.id, damage.join("; "));
            return Err(Failure::new(Code::Load, error)
                .hint(format!("restore it, or drop the rest and load anew with `pgdyno load {} --replace`", meta.id)));
        }
        (DataState::Partial { .. }, LoadChoice::Never) => {
            let error = format!("the data of {} is incomplete: a load was never finished", meta.id);
            return Err(Failure::new(Code::Load, error).hint("leave out --no-load to load anew"));
        }
        (DataState::Partial { kept: None, ref damage, .. }, LoadChoice::IfMissing) if damage.is_empty() => {
            access.events.note("an earlier load was not finished and cannot be resumed: loading anew");
        }
        // The load itself refuses data of another program whose size cannot be read.
        (DataState::Absent | DataState::Foreign { .. } | DataState::Partial { .. }, LoadChoice::IfMissing)
        | (_, LoadChoice::Always) => {}
    }
    let record = load(access, data, &loading.options(choice == LoadChoice::Always, false), shared)?;
    Ok(Provided { load: Some(record), maker: None })
}

/// Completes or undoes a change of the data that an earlier run was killed in.
pub(crate) fn repair(access: &DataAccess<'_>, admin: &mut Admin, data: &dyn DataSet) -> Result<()> {
    if access.caps.standby || !data.meta().has_data() {
        return Ok(());
    }
    let interrupted = pgdyno_load::interrupted_change(admin, data).or_fail(Code::Load)?;
    let Some(repair) = interrupted else { return Ok(()) };
    let mut unknown = None;
    // A run in another database changes nothing here.
    let other = lock::other_run_here(admin, &mut |warning| unknown = Some(warning))?;
    if let Some(why) = unknown {
        let error = format!("a killed run left the data of {} half changed: {why}", data.meta().id);
        let hint = "run again as a role that sees pg_locks and pg_stat_activity, or load the data anew with --replace";
        return Err(Failure::new(Code::Start, error).hint(hint));
    }
    if let Some(other) = other {
        let error = format!("the data of {} is being changed: {other} measures this database", data.meta().id);
        return Err(Failure::new(Code::Start, error).hint("wait until that run ends"));
    }
    reach::admit_change(access.caps, "this repair of half changed data")?;
    access.events.note(&repair.what);
    pgdyno_load::repair(admin, &repair).map_err(|error| {
        Failure::new(Code::Load, format!("{}: {error}", repair.what))
            .hint("run again, or load the data anew with --replace; nothing has changed")
    })
}

/// Replaces pgdyno's routines of an older version. Routines that the user changed stay.
fn own_routines(access: &DataAccess<'_>, admin: &mut Admin, data: &dyn DataSet, schema_may_differ: bool) -> Result<()> {
    let changed = changed_routines(admin, data, access.caps)?;
    if changed.is_empty() {
        refresh_routines(admin, data, access.caps).or_fail(Code::Load)?;
    } else if !schema_may_differ {
        let error = format!("routines of {} were changed by hand: {}", data.meta().id, changed.join("; "));
        return Err(Failure::new(Code::Check, error).hint(
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

/// Refuses a size or parameters that differ from those of the data, as a run does.
pub fn admit_size(admin: &mut Admin, data: &dyn DataSet) -> Result<()> {
    let meta = data.meta();
    match pgdyno_load::state(admin, data).or_fail(Code::Load)? {
        DataState::Other(stamp) => Err(other(data, &stamp)),
        DataState::Taken(taken) => Err(Failure::new(Code::Load, LoadError::Taken(Box::new(taken)))),
        DataState::Foreign { scale: Some(scale), maker } if !suits(meta, scale, data.scale()) => {
            Err(other_size_of_another(meta.scale_name, scale, data.scale(), maker))
        }
        _ => Ok(()),
    }
}

/// Returns true if data of another program has the size that is asked for. If that is a range of keys, there may be more.
fn suits(meta: &Meta, there: u64, asked: u64) -> bool {
    asked == there || meta.is_key_range && asked < there
}

/// Returns the error for data of another program that has another size.
fn other_size_of_another(name: &str, there: u64, asked: u64, maker: Option<&str>) -> Failure {
    let whose = maker.unwrap_or("another program");
    let error = format!("{whose} loaded {name} {there}; you asked for {name} {asked}");
    let hint = format!("leave out --{name} to drive what is there, or name another database in --target");
    Failure::new(Code::Load, error).hint(hint)
}

/// Returns the error for complete data of pgdyno that differs from what is asked for.
pub(crate) fn other(data: &dyn DataSet, found: &Stamp) -> Failure {
    let meta = data.meta();
    let (name, asked) = (meta.scale_name, data.params().text(meta.scale_name));
    let there = found.load_params().find(|(param, _)| *param == name).map(|(_, value)| value);
    if let Some(there) = there.filter(|there| there != asked && meta.is_size_loaded()) {
        let error = format!("the database holds data of {name} {there}; you asked for {name} {asked}");
        return Failure::new(Code::Load, error).hint(format!(
            "leave out --{name} to use what is there, or load anew with --replace, or drop it first with `pgdyno drop \
             {}`",
            meta.id
        ));
    }
    let asked = meta.params.iter().filter(|param| param.shapes_data());
    let differing: Vec<_> = asked
        .filter_map(|param| {
            let there = found.load_params().find(|(name, _)| *name == param.name).map(|(_, value)| value);
            let (asked, there) = (data.params().text(param.name), there.unwrap_or_else(|| param.default.to_owned()));
            (there != asked).then(|| (format!("{}={there}", param.name), format!("{}={asked}", param.name)))
        })
        .collect();
    if data.sql_data().is_none() && !differing.is_empty() {
        let (there, asked): (Vec<_>, Vec<_>) = differing.into_iter().unzip();
        let (there, asked) = (there.join(" "), asked.join(" "));
        let error = format!("the database holds data of {} with {there}; you asked for {asked}", found.dataset);
        return Failure::new(Code::Load, error)
            .hint("leave that out to use what is there, or load anew with --replace");
    }
    let error = match data.sql_data() {
        None => {
            format!("{} needs data with other parameters or of another version: the database holds {found}", meta.id)
        }
        Some(_) => {
            format!("{} or its parameters have changed since it was loaded: the database holds {found}", meta.id)
        }
    };
    Failure::new(Code::Load, error).hint("load anew with --replace")
}

/// Returns the size of the data: `1,000`, or a fraction as it was given.
fn size(data: &dyn DataSet) -> String {
    let given = data.params().text(data.meta().scale_name);
    if given.contains('.') { given.to_owned() } else { units::count(data.scale()) }
}

/// Returns `205,999,000 of 500,000,000 rows`.
fn far(rows: u64, all: u64) -> String {
    format!("{} of {} rows", units::count(rows), units::count(all))
}

/// Returns what a load creates: tables and routines by name.
#[must_use]
pub fn created(data: &dyn DataSet, caps: &Capabilities) -> String {
    let tables: Vec<_> = data.tables(caps).iter().map(|table| table.name).collect();
    let routines = data.routines(caps);
    let mut parts = Vec::new();
    if !tables.is_empty() {
        parts.push(format!("tables {}", tables.join(", ")));
    }
    if !routines.list.is_empty() {
        let place = routines.schema.map_or_else(String::new, |schema| format!(" in schema {schema}"));
        let name = |signature: &'static str| signature.split('(').next().unwrap_or(signature);
        let names: Vec<_> = routines.list.iter().map(|routine| name(routine.signature)).collect();
        parts.push(format!("routines {}{place}", names.join(", ")));
    }
    parts.push(format!("its stamp {}", pgdyno_load::STAMP_TABLE));
    format!("creates {}", parts.join("; "))
}

/// Returns how the planned load fills its largest table, and why; `None` if there is nothing to tell.
#[must_use]
pub fn way(plan: &Plan, data: &dyn DataSet, caps: &Capabilities, server: ServerSettings) -> Option<String> {
    pgdyno_load::way(data, caps, &LoadSettings::planned(plan).options(false, false), server)
}

/// Loads the data; `shared` if other machines help.
pub fn load(
    access: &DataAccess<'_>,
    data: &dyn DataSet,
    how: &LoadOptions,
    shared: Option<&dyn Shared>,
) -> Result<LoadRecord> {
    let meta = data.meta();
    reach::admit_load(access.caps, meta.id)?;
    let mut admin = Admin::connect(access.options).or_fail(Code::Start)?;
    pgdyno_load::admit(&mut admin).or_fail(Code::Load)?;
    access.events.note(&match data.sql_data() {
        None => {
            format!("loading {} with {} {}, about {}", meta.id, meta.scale_name, size(data), units::bytes(data.bytes()))
        }
        Some(data) => {
            let files = data.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(" and ");
            format!("loading {} by {files}", meta.dataset)
        }
    });
    disk::admit(access, &mut admin, data)?;
    drop(admin);
    access.events.note(&created(data, access.caps));
    let report_step = |step: &Step<'_>| match *step {
        Step::Plan { rows_expected, rows_kept, .. } => {
            if rows_kept > 0 {
                access.events.note(&format!("resuming: {} are there", far(rows_kept, rows_expected)));
            }
            access.events.event(&Event::LoadBegins { rows_expected, rows_kept });
        }
        Step::Way(way) => access.events.note(way),
        Step::Dropping(what) => access.events.note(&format!("dropping what is in the way: {what}")),
        Step::Dropped(what) => access.events.note(&format!("dropped what was there: {what}")),
        Step::Phase(phase) => access.events.event(&Event::LoadPhase { phase: &phase.to_string() }),
        Step::Table { name, rows, .. } => access.events.event(&Event::LoadRows { table: name, rows }),
        Step::Step { phase, done, total } => access.events.step(&phase.to_string(), done, total),
    };
    let loaded = pgdyno_load::load(access.options, data, access.caps, how, &report_step, access.stop, shared);
    access.events.ended();
    let report = loaded.map_err(|error| {
        let code = match &error {
            LoadError::Interrupted | LoadError::Stopped(_) | LoadError::Suspended => Code::Interrupted,
            LoadError::Connect(_) => Code::Start,
            _ => Code::Load,
        };
        Failure::new(code, error)
    })?;
    for note in &report.notes {
        access.events.note(note);
    }
    let rows: u64 = report.tables.iter().map(|t| t.rows).sum();
    access.events.note(&format!(
        "loaded {} rows{}, in {}{}",
        units::count(rows),
        report.data_bytes.map_or_else(String::new, |bytes| format!(", {}", units::bytes(bytes))),
        units::duration(report.seconds),
        longest(&report)
    ));
    Ok(record(&report))
}

/// Phases with less than this share of a load are not shown.
const SHARE_SHOWN: f64 = 0.01;

/// Returns the times of the phases: ` (rows 2.5 s, indexes 1.1 s)`.
fn longest(report: &LoadReport) -> String {
    let phases = report.phases.iter().filter(|phase| phase.seconds_added >= report.seconds * SHARE_SHOWN);
    let phases: Vec<_> =
        phases.map(|phase| format!("{} {}", phase.phase, units::duration(phase.seconds_added))).collect();
    if phases.is_empty() { String::new() } else { format!(" ({})", phases.join(", ")) }
}

fn record(report: &LoadReport) -> LoadRecord {
    let table = |t: &pgdyno_load::TableReport| LoadTable {
        name: t.name.clone(),
        rows: t.rows,
        copy_bytes: t.copy_bytes,
        copy_s: t.seconds,
    };
    LoadRecord {
        loaders: report.loaders,
        seconds: report.seconds,
        phases: report.phases.iter().map(|p| (p.phase.to_string(), p.seconds)).collect(),
        tables: report.tables.iter().map(table).collect(),
    }
}

/// Checks the data over as many connections as a load uses by default. Ctrl-C cancels the queries on the server.
pub fn check(
    access: &DataAccess<'_>,
    data: &dyn DataSet,
    moment: Moment<'_>,
    when: &str,
) -> Result<(CheckSet, Baseline)> {
    access.events.note(&format!("checking the data {when}"));
    access.events.event(&Event::ChecksBegin);
    let report_step = |step: &CheckProgress<'_>| {
        let CheckProgress { check, done, total, share, .. } = *step;
        access.events.event(&Event::Checking { check, done, of: total, share });
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
        Failure::new(code, error)
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
pub(crate) fn broken(set: &CheckSet) -> Failure {
    let lines: Vec<String> = set
        .checks
        .iter()
        .filter(|c| !c.passes())
        .map(|c| format!("\n  {}: {}\n    {}", c.name, c.condition, c.violations.join("\n    ")))
        .collect();
    Failure::new(Code::Check, format!("the data is broken {}:{}", set.when, lines.concat()))
        .hint(match set.checks.iter().all(|c| c.passes() || c.name == SCHEMA) {
            true => {
                "undo the changes, load it anew with --replace, or measure it as it is with --allow-schema-changes: the \
                 record says so"
            }
            false => "load it anew with --replace, or drive it anyway with --no-check",
        })
}

/// Returns the only number of a query's result. The query may read a whole table.
pub(crate) fn number(admin: &mut Admin, sql: &str) -> Option<u64> {
    admin.patiently(|admin| admin.query_opt(sql)).ok().flatten()?.parse().ok()
}
