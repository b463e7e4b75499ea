//! Loads data, and reports the progress.

use pgdyno_load::{LoadError, LoadOptions, LoadProgress as Step, LoadReport, ServerSettings, Shared};
use pgdyno_net::Admin;
use pgdyno_plan::Plan;
use pgdyno_results::{LoadRecord, LoadTable};
use pgdyno_text::list::listed;
use pgdyno_text::units;
use pgdyno_workload::{Capabilities, DataSet};

use super::access::DataAccess;
use super::disk;
use super::loading::LoadSettings;
use super::size::{rows_progress, size};
use crate::events::RunEvent;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::target::reach;

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

/// Returns what a load creates, with the number of routines in place of their names.
fn created_in_short(data: &dyn DataSet, caps: &Capabilities) -> String {
    let mut names: Vec<_> = data.tables(caps).iter().map(|table| table.name.to_owned()).collect();
    names.push(pgdyno_load::STAMP_TABLE.to_owned());
    let routines = data.routines(caps).list.len() as u64;
    if routines > 0 {
        names.push(units::plural(routines, "routine"));
    }
    format!("creates {}", listed(&names))
}

/// Returns how the planned load fills its largest table, and why; `None` if there is nothing to report.
#[must_use]
pub fn way(plan: &Plan, data: &dyn DataSet, caps: &Capabilities, server: ServerSettings) -> Option<String> {
    pgdyno_load::way(data, caps, &LoadSettings::planned(plan).options(false, false), server)
}

/// Returns what is loaded, as a sentence.
fn begun(data: &dyn DataSet) -> String {
    let meta = data.meta();
    match data.sql_data() {
        None => {
            let size = units::sized(meta.scale_name, &size(data));
            format!("loading {} with {size}, about {}", meta.id, units::bytes(data.bytes()))
        }
        Some(data) => {
            let files = data.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(" and ");
            format!("loading {} by {files}", meta.dataset)
        }
    }
}

/// Loads the data; `shared` if other machines help.
pub fn load(
    access: &DataAccess<'_>,
    data: &dyn DataSet,
    how: &LoadOptions,
    shared: Option<&dyn Shared>,
) -> Result<LoadRecord> {
    reach::admit_load(access.caps, data.meta().id)?;
    let mut admin = Admin::connect(access.options).or_fail(Code::Start)?;
    pgdyno_load::admit(&mut admin).or_fail(Code::Load)?;
    disk::admit(access, &mut admin, data)?;
    drop(admin);
    let report_step = |step: &Step<'_>| match *step {
        Step::Plan { rows_expected, rows_kept, .. } => {
            // Nothing is in the way of the tables.
            access.events.note(&format!("{}; {}", begun(data), created_in_short(data, access.caps)));
            if !data.routines(access.caps).list.is_empty() {
                access.events.detail(&created(data, access.caps));
            }
            if rows_kept > 0 {
                access.events.note(&format!("resuming: {} are there", rows_progress(rows_kept, rows_expected)));
            }
            access.events.event(&RunEvent::LoadBegins { rows_expected, rows_kept });
        }
        Step::Way(way) => access.events.detail(way),
        Step::Dropping(what) => access.events.note(&format!("dropping what conflicts: {what}")),
        Step::Dropped(what) => access.events.note(&format!("dropped what was there: {what}")),
        Step::Phase(phase) => access.events.event(&RunEvent::LoadPhase { phase: &phase.to_string() }),
        Step::Table { name, rows, .. } => access.events.event(&RunEvent::LoadRows { table: name, rows }),
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
        CommandError::new(code, error)
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
