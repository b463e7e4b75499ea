//! The data of a run: there already, or loaded; checked before and after.

use std::sync::atomic::AtomicBool;

use pgdyno_load::{
    Baseline, CheckError, DataState, LoadError, LoadOptions, LoadReport, Moment, Progress as Step, refresh_routines,
};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::LoadChoice;
use pgdyno_report::units;
use pgdyno_results::{CheckRecord, CheckSet, LoadRecord, LoadTable};
use pgdyno_workload::{Capabilities, Workload};

use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::progress::Progress;

/// The server, and what goes on beside it.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) options: &'a ConnectOptions,
    pub(crate) caps: &'a Capabilities,
    pub(crate) progress: &'a Progress,
    pub(crate) stop: &'a AtomicBool,
}

/// What is known of data that is there.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) size: u64,
    /// Parameters that shaped it, where pgdyno loaded it.
    pub(crate) params: Vec<(String, String)>,
}

/// The data that is there, where it is of the workload's kind: loaded by pgdyno, or made by another program such as
/// `pgbench -i`.
pub(crate) fn loaded(admin: &mut Admin, workload: &dyn Workload) -> Result<Option<Loaded>> {
    if !workload.meta().has_data() {
        return Ok(None);
    }
    Ok(match pgdyno_load::state(admin, workload).or_fail(Code::Load)? {
        DataState::Complete(stamp) | DataState::Other(stamp) => {
            let params = stamp.load_params().map(|(name, value)| (name.to_owned(), value)).collect();
            Some(Loaded { size: stamp.scale, params })
        }
        DataState::Foreign { scale } => scale.map(|size| Loaded { size, params: Vec::new() }),
        DataState::Absent | DataState::Partial(_) => None,
    })
}

/// Sees to it that the data is there as `choice` wants it; the record of the load, where there was one.
pub(crate) fn provide(
    site: &Site<'_>,
    admin: &mut Admin,
    workload: &dyn Workload,
    choice: LoadChoice,
    loaders: usize,
) -> Result<Option<LoadRecord>> {
    let meta = workload.meta();
    if !meta.has_data() {
        return Ok(None);
    }
    let (name, asked) = (meta.scale_name, workload.scale());
    let state = pgdyno_load::state(admin, workload).or_fail(Code::Load)?;
    let wrong_size = |there: u64, whose: &str| {
        let error = format!("the database holds {whose} of {name} {there}, and {name} {asked} is asked for");
        Failure::new(Code::Load, error).hint(format!(
            "leave --{name} out to use what is there, or load anew with --replace, or drop it first with `pgdyno drop {}`",
            meta.id
        ))
    };
    match (state, choice) {
        (DataState::Complete(_), LoadChoice::IfMissing | LoadChoice::Never) => {
            // The data is right; procedures of an older pgdyno may not be.
            refresh_routines(admin, workload, site.caps).or_fail(Code::Load)?;
            return Ok(None);
        }
        (DataState::Foreign { scale: Some(scale) }, LoadChoice::IfMissing | LoadChoice::Never) => {
            if scale != asked {
                return Err(wrong_size(scale, "data of another program"));
            }
            drivable(admin, workload, site.caps)?;
            let size = units::count(scale);
            site.progress.note(&format!("the data was not loaded by pgdyno; it is driven as it is, {name} {size}"));
            return Ok(None);
        }
        (DataState::Other(stamp), LoadChoice::IfMissing | LoadChoice::Never) => {
            if stamp.scale != asked && meta.is_size_loaded() {
                return Err(wrong_size(stamp.scale, "data"));
            }
            let error = match workload.sql_data() {
                None => format!(
                    "the database holds {} that was loaded with other parameters or by another version",
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
        (DataState::Partial(_), LoadChoice::Never) => {
            let error = format!("the data of {} is incomplete: a load was never finished, or a table is gone", meta.id);
            return Err(Failure::new(Code::Load, error).hint("leave --no-load out to load anew"));
        }
        (DataState::Partial(_), LoadChoice::IfMissing) => {
            let why = "by a load that was never finished or a table that is gone";
            site.progress.note(&format!("the data is incomplete, {why}: loading anew"));
        }
        // What is foreign and has no size that can be read is refused by the load itself.
        (DataState::Absent | DataState::Foreign { .. }, LoadChoice::IfMissing) | (_, LoadChoice::Always) => {}
    }
    load(site, workload, &LoadOptions { loaders, replace: choice == LoadChoice::Always, force: false }).map(Some)
}

/// Whether data of another program can be driven: routines that it lacks cannot be called.
fn drivable(admin: &mut Admin, workload: &dyn Workload, caps: &Capabilities) -> Result<()> {
    for routine in workload.routines(caps) {
        let sql = format!("select to_regprocedure({})", pgdyno_net::quote::literal(routine.signature));
        if admin.query_opt(&sql).or_fail(Code::Load)?.is_none() {
            let id = workload.meta().id;
            let name = routine.signature.split('(').next().unwrap_or(routine.signature);
            let error = format!(
                "the tables of {id} were made by another program, and the database lacks pgdyno's routine {name}()"
            );
            let hint =
                format!("name another database in --target, or replace the tables with `pgdyno load {id} --force`");
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
        Step::Plan { rows_expected, .. } => site.progress.load_begins(rows_expected),
        Step::Phase(phase) => site.progress.loading(&phase.to_string()),
        Step::Table { name, rows, .. } => site.progress.loaded(name, rows),
        Step::Step { phase, done, total } => site.progress.step(&phase.to_string(), done, total),
    };
    let loaded = pgdyno_load::load(site.options, workload, site.caps, how, &heard, site.stop);
    site.progress.clear();
    let report = loaded.map_err(|error| {
        let code = match &error {
            LoadError::Interrupted => Code::Interrupted,
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
        "loaded {} rows, {}, in {}",
        units::count(rows),
        units::bytes(report.data_bytes),
        units::duration(report.seconds)
    ));
    Ok(record(&report))
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

/// Checks the data. A Ctrl-C cancels what the server is doing for it.
pub(crate) fn check(
    site: &Site<'_>,
    admin: &mut Admin,
    workload: &dyn Workload,
    moment: Moment<'_>,
    when: &str,
) -> Result<(CheckSet, Baseline)> {
    site.progress.note(&format!("checking the data {when}"));
    let heard = |check: &str, nth: usize, of: usize| site.progress.step(&format!("check {check}"), nth - 1, of);
    let checked = pgdyno_load::check(admin, workload, site.caps, moment, &heard, site.stop);
    site.progress.clear();
    let report = checked.map_err(|error| {
        let code = match &error {
            CheckError::Interrupted { .. } => Code::Interrupted,
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

/// Refuses a run that cannot connect all of its clients, before anything is loaded.
pub(crate) fn admit(admin: &mut Admin, clients: u32) -> Result<()> {
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
    let free = most.saturating_sub(reserved).saturating_sub(used);
    if clients > free {
        let error = format!(
            "{clients} clients are asked for, and the server has room for {free}: max_connections is {most}, {reserved} are \
             reserved and {used} in use"
        );
        return Err(
            Failure::new(Code::Start, error).hint("lower --clients, or raise max_connections and restart the server")
        );
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
