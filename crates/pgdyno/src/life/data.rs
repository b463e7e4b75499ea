//! The data of a run: there already, or loaded; checked before and after.

use std::sync::atomic::AtomicBool;

use pgdyno_load::{
    Baseline, CheckError, CheckProgress, DataState, Kept, LoadError, LoadOptions, LoadReport, Moment, Progress as Step,
    refresh_routines,
};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::LoadChoice;
use pgdyno_report::units;
use pgdyno_results::{CheckRecord, CheckSet, LoadRecord, LoadTable};
use pgdyno_workload::{Capabilities, Workload};

use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::life::manner::{self, LoadManner};
use crate::progress::Progress;

/// The server, and what goes on beside it.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) options: &'a ConnectOptions,
    pub(crate) caps: &'a Capabilities,
    pub(crate) progress: &'a Progress,
    pub(crate) stop: &'a AtomicBool,
}

/// What is there for a run.
#[derive(Debug, Default)]
pub(crate) struct Provided {
    /// The record of the load, where there was one.
    pub(crate) load: Option<LoadRecord>,
    /// Whether another program made the data: what is wrong with it is not the run's doing.
    pub(crate) foreign: bool,
}

/// Sees to it that the data is there as `choice` wants it.
pub(crate) fn provide(
    site: &Site<'_>,
    admin: &mut Admin,
    workload: &dyn Workload,
    choice: LoadChoice,
    manner: LoadManner,
) -> Result<Provided> {
    let meta = workload.meta();
    if !meta.has_data() {
        return Ok(Provided::default());
    }
    let (name, asked) = (meta.scale_name, workload.scale());
    let state = pgdyno_load::state(admin, workload).or_fail(Code::Load)?;
    let wrong_size = |there: u64| {
        let error = format!("the database holds data of {name} {there}, and {name} {asked} is asked for");
        Failure::new(Code::Load, error).hint(format!(
            "leave --{name} out to use what is there, or load anew with --replace, or drop it first with `pgdyno drop {}`",
            meta.id
        ))
    };
    match (state, choice) {
        (DataState::Complete(_), LoadChoice::IfMissing | LoadChoice::Never) => {
            // The data is right; procedures of an older pgdyno may not be.
            refresh_routines(admin, workload, site.caps).or_fail(Code::Load)?;
            return Ok(Provided::default());
        }
        (DataState::Foreign { scale: Some(scale), maker }, LoadChoice::IfMissing | LoadChoice::Never) => {
            let whose = maker.unwrap_or("another program");
            if scale != asked {
                let error =
                    format!("the database holds data of {whose} of {name} {scale}, and {name} {asked} is asked for");
                let hint = format!("leave --{name} out to drive what is there, or name another database in --target");
                return Err(Failure::new(Code::Load, error).hint(hint));
            }
            drivable(admin, workload, site.caps, maker)?;
            let size = units::count(scale);
            let but = maker.map_or(String::new(), |maker| format!(" but by {maker}"));
            site.progress
                .note(&format!("the data was not loaded by pgdyno{but}; it is driven as it is, {name} {size}"));
            return Ok(Provided { load: None, foreign: true });
        }
        (DataState::Other(stamp), LoadChoice::IfMissing | LoadChoice::Never) => {
            if stamp.scale != asked && meta.is_size_loaded() {
                return Err(wrong_size(stamp.scale));
            }
            let error = match workload.sql_data() {
                None => format!(
                    "{} asks for data with other parameters or of another version: the database holds {stamp}",
                    meta.id
                ),
                Some(_) => format!(
                    "{} or its parameters have changed since it was loaded: the database holds {stamp}",
                    meta.id
                ),
            };
            return Err(Failure::new(Code::Load, error).hint("load anew with --replace"));
        }
        (DataState::Absent | DataState::Foreign { .. }, LoadChoice::Never) => {
            let error = format!("the database holds no data of {}, and --no-load is given", meta.id);
            let hint = format!("leave --no-load out, or `pgdyno load {}` first", meta.id);
            return Err(Failure::new(Code::Load, error).hint(hint));
        }
        (DataState::Partial { kept: Some(Kept { rows, rows_expected: Some(all) }), .. }, LoadChoice::Never) => {
            let error = format!("the data of {} is incomplete: a load was interrupted at {}", meta.id, far(rows, all));
            return Err(Failure::new(Code::Load, error).hint("leave --no-load out to go on with it"));
        }
        (DataState::Partial { .. }, LoadChoice::Never) => {
            let error = format!("the data of {} is incomplete: a load was never finished, or a table is gone", meta.id);
            return Err(Failure::new(Code::Load, error).hint("leave --no-load out to load anew"));
        }
        (DataState::Partial { kept: None | Some(Kept { rows_expected: None, .. }), .. }, LoadChoice::IfMissing) => {
            let why = "by a load that was never finished or a table that is gone";
            site.progress.note(&format!("the data is incomplete, {why}: loading anew"));
        }
        // What is foreign and has no size that can be read is refused by the load itself.
        (DataState::Absent | DataState::Foreign { .. } | DataState::Partial { .. }, LoadChoice::IfMissing)
        | (_, LoadChoice::Always) => {}
    }
    let record = load(site, workload, &manner.options(choice == LoadChoice::Always, false))?;
    Ok(Provided { load: Some(record), foreign: false })
}

/// `205,999,000 of 500,000,000 rows`.
fn far(rows: u64, all: u64) -> String {
    format!("{} of {} rows", units::count(rows), units::count(all))
}

/// Whether data of another program can be driven: routines that it lacks cannot be called.
fn drivable(
    admin: &mut Admin,
    workload: &dyn Workload,
    caps: &Capabilities,
    maker: Option<&'static str>,
) -> Result<()> {
    for routine in workload.routines(caps) {
        let sql = format!("select to_regprocedure({})", pgdyno_net::quote::literal(routine.signature));
        if admin.query_opt(&sql).or_fail(Code::Load)?.is_none() {
            let meta = workload.meta();
            let name = routine.signature.split('(').next().unwrap_or(routine.signature);
            let whose = maker.unwrap_or("another program");
            let error = format!(
                "the tables of {} were made by {whose}, and the database lacks pgdyno's routine {name}()",
                meta.id
            );
            let hint = match workload.other_maker().filter(|known| maker == Some(known.name)) {
                Some(maker) => format!(
                    "drive them with `{}`, which needs nothing more in the database, or name another database in --target",
                    maker.drive
                ),
                None => {
                    format!("name another database in --target, or replace them with `pgdyno load {} --force`", meta.id)
                }
            };
            return Err(Failure::new(Code::Load, error).hint(hint));
        }
    }
    Ok(())
}

/// Loads.
pub(crate) fn load(site: &Site<'_>, workload: &dyn Workload, how: &LoadOptions) -> Result<LoadRecord> {
    let meta = workload.meta();
    site.progress.note(&match workload.sql_data() {
        None => format!(
            "loading {} with {} {}, about {}",
            meta.id,
            meta.scale_name,
            units::count(workload.scale()),
            units::bytes(workload.data_bytes())
        ),
        Some(data) => {
            let files = data.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(" and ");
            format!("loading {} by {files}", meta.dataset)
        }
    });
    let heard = |step: &Step<'_>| match *step {
        Step::Plan { rows_expected, rows_kept, .. } => {
            if rows_kept > 0 {
                site.progress.note(&format!("resuming: {} are there", far(rows_kept, rows_expected)));
            }
            site.progress.load_begins(rows_expected, rows_kept);
        }
        Step::Phase(phase) => site.progress.loading(&phase.to_string()),
        Step::Table { name, rows, .. } => site.progress.loaded(name, rows),
        Step::Step { phase, done, total } => site.progress.step(&phase.to_string(), done, total),
    };
    let loaded = pgdyno_load::load(site.options, workload, site.caps, how, &heard, site.stop);
    site.progress.clear();
    let report = loaded.map_err(|error| {
        let code = match &error {
            LoadError::Interrupted | LoadError::Suspended => Code::Interrupted,
            LoadError::Connect(_) => Code::Start,
            _ => Code::Load,
        };
        Failure::new(code, error)
    })?;
    for note in &report.notes {
        site.progress.note(note);
    }
    let rows: u64 = report.tables.iter().map(|t| t.rows).sum();
    site.progress.note(&format!(
        "loaded {} rows, {}, in {}{}",
        units::count(rows),
        units::bytes(report.data_bytes),
        units::duration(report.seconds),
        longest(&report)
    ));
    Ok(record(&report))
}

/// A phase of less than this share of a load is not told.
const SHARE_TOLD: f64 = 0.01;

/// Where the time went: ` (rows 2.5 s, indexes 1.1 s)`.
fn longest(report: &LoadReport) -> String {
    let told = report.phases.iter().filter(|phase| phase.seconds_added >= report.seconds * SHARE_TOLD);
    let told: Vec<_> = told.map(|phase| format!("{} {}", phase.phase, units::duration(phase.seconds_added))).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
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

/// Checks the data, over as many connections as a load takes by default. A Ctrl-C cancels what the server is doing for
/// it.
pub(crate) fn check(
    site: &Site<'_>,
    workload: &dyn Workload,
    moment: Moment<'_>,
    when: &str,
) -> Result<(CheckSet, Baseline)> {
    site.progress.note(&format!("checking the data {when}"));
    site.progress.checks_begin();
    let heard = |step: &CheckProgress<'_>| site.progress.checking(step.check, step.done, step.total, step.share);
    let connections = manner::default_loaders();
    let checked = pgdyno_load::check(site.options, connections, workload, site.caps, moment, &heard, site.stop);
    site.progress.clear();
    let report = checked.map_err(|error| {
        let code = match &error {
            CheckError::Interrupted { .. } => Code::Interrupted,
            CheckError::Connect(_) => Code::Start,
            CheckError::Failed { .. } => Code::Check,
        };
        Failure::new(code, error)
    })?;
    let checks = report
        .checks
        .into_iter()
        .map(|c| {
            let more = c.more.then(|| "and more".to_owned());
            CheckRecord {
                name: c.name,
                condition: c.condition,
                holds: c.holds,
                seconds: c.seconds,
                violations: c.violations.into_iter().chain(more).collect(),
            }
        })
        .collect();
    Ok((CheckSet { when: when.to_owned(), checks }, report.baseline))
}

/// Whether every check of a set holds.
pub(crate) fn holds(set: &CheckSet) -> bool {
    set.checks.iter().all(|check| check.holds)
}

/// What is wrong with another program's data before a run, as warnings: the run is not to blame for it, and these
/// conditions are not asked again after it.
pub(crate) fn broken_before(set: &CheckSet) -> Vec<String> {
    let warning = |c: &CheckRecord| {
        format!(
            "the data, which pgdyno did not load, breaks condition {} before the run, so it says nothing after it: {}",
            c.name, c.condition
        )
    };
    set.checks.iter().filter(|c| !c.holds).map(warning).collect()
}

/// The failure that broken data is, before a run.
pub(crate) fn broken(set: &CheckSet) -> Failure {
    let lines: Vec<String> = set
        .checks
        .iter()
        .filter(|c| !c.holds)
        .map(|c| format!("\n  {}: {}\n    {}", c.name, c.condition, c.violations.join("\n    ")))
        .collect();
    Failure::new(Code::Check, format!("the data is broken {}:{}", set.when, lines.concat()))
        .hint("load it anew with --replace, or drive it all the same with --no-check")
}

/// Refuses a run that cannot connect all of its clients, and so many `watchers` of its own, before anything is loaded.
pub(crate) fn admit(admin: &mut Admin, clients: u32, watchers: u32) -> Result<()> {
    let setting = |admin: &mut Admin, name: &str| -> Option<u32> {
        admin.query_opt(&format!("select current_setting('{name}', true)")).ok()??.parse().ok()
    };
    let Some(most) = setting(admin, "max_connections") else { return Ok(()) };
    let superuser = admin.query_opt("select current_setting('is_superuser')").ok().flatten().is_some_and(|v| v == "on");
    let reserved = if superuser {
        0
    } else {
        setting(admin, "superuser_reserved_connections").unwrap_or(0)
            + setting(admin, "reserved_connections").unwrap_or(0)
    };
    let used: u32 = admin
        .query_opt("select count(*) from pg_stat_activity where backend_type = 'client backend'")
        .ok()
        .flatten()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let free = most.saturating_sub(reserved).saturating_sub(used).saturating_sub(watchers);
    if clients > free {
        let error = format!(
            "{clients} clients are asked for, and the server has room for {free}: max_connections is {most}, {reserved} are \
             reserved, {used} in use, and pgdyno wants {watchers} more to see what the server does"
        );
        return Err(Failure::new(Code::Start, error)
            .hint("lower --clients, let them share --connections, or raise max_connections and restart the server"));
    }
    Ok(())
}

/// Asks for one number.
pub(crate) fn number(admin: &mut Admin, sql: &str) -> Option<u64> {
    admin.query_opt(sql).ok().flatten()?.parse().ok()
}

/// What a run begins with.
pub(crate) fn before_run(admin: &mut Admin, workload: &dyn Workload) -> Result<()> {
    for sql in workload.before_run() {
        admin.execute(sql).or_fail(Code::Start)?;
    }
    Ok(())
}
