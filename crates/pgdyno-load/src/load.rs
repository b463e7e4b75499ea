//! A load: tables, rows, indexes, routines, its progress and its report.

pub(crate) mod apart;
pub(crate) mod copy;
pub(crate) mod cost;
pub(crate) mod distribute;
pub(crate) mod index_memory;
pub(crate) mod loaders;
pub(crate) mod loading;
pub(crate) mod nodes;
pub(crate) mod plan;
pub(crate) mod prepare;
pub(crate) mod progress;
pub(crate) mod queue;
pub(crate) mod report;
pub(crate) mod routines;
pub(crate) mod schedule;
pub(crate) mod sql;
pub(crate) mod ways;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pgdyno_net::{Admin, ConnectError, ConnectOptions, Halt, Stop, looking_in};
use pgdyno_workload::{Capabilities, DataSet};

use crate::admit::admit;
use crate::load::cost::ServerSettings;
use crate::load::loaders::LoaderWork;
use crate::load::loading::{Load, LoadOptions, is_resumable};
use crate::load::plan::{Conditions, FillPlan};
use crate::load::prepare::Prepared;
use crate::load::queue::Queue;
use crate::session::Session;
use crate::state::fate::Remains;
use crate::state::{relations, stamp};
use crate::{LoadError, LoadPhase, LoadProgress, LoadReport, Stamp, steps};

/// Other machines that help with a load.
pub trait Shared: Sync {
    /// Called when there is something to take: the others call [`help`](crate::help) with this schema.
    fn begun(&self, schema: &str);
}

/// Loads `data`: drops what is in the way and may be dropped, creates tables, copies rows, builds indexes, and stamps
/// the data at the end.
///
/// Drops tables of an interrupted load without asking. One loader creates, fills and freezes each table in one
/// transaction; only a table so large that all others would wait for it is filled by several and vacuumed.
///
/// A resumable load fills every table of several chunks part by part: it commits the rows of one unit of the scale,
/// such as a warehouse, together with an entry in a logbook. The next load of the same data keeps the rows and indexes
/// of the logbook, and does the rest; the rows are the same as those of an uninterrupted load. Data that SQL makes
/// ([`DataSet::sql_data`]) is made on one connection; its objects are found in the catalog and marked. Time limits of
/// the role or database are lifted.
///
/// With `shared`, the load is resumable, and rows of tables of several chunks are copied by this machine and others
/// together, each part by the machine that takes it first. What others do not finish, this machine does.
///
/// It watches `stop` all the time: once that is set, it cancels running statements and ends.
///
/// # Errors
/// When something is in the way, the server refuses a statement, a connection is lost, or `stop` is set. Then no
/// stamp says that the data is complete, and no statement is still running.
pub fn load(
    options: &ConnectOptions,
    data: &dyn DataSet,
    caps: &Capabilities,
    how: &LoadOptions,
    progress: &(dyn Fn(&LoadProgress<'_>) + Sync),
    stop: &Stop,
    shared: Option<&dyn Shared>,
) -> Result<LoadReport, LoadError> {
    let how = &LoadOptions { resumable: how.resumable || shared.is_some(), ..how.clone() };
    let meta = data.meta();
    if !meta.has_data() {
        return Err(LoadError::NoData(meta.id));
    }
    let began = Instant::now();
    let halt = Halt::new(stop);
    let options = &halt.options(options);
    let mut control = match halt.connect(options)? {
        Some(admin) => halt.watched(|| Session::new(admin, &halt))?,
        None => return Err(looked_up(LoadError::Interrupted, options, data)),
    };
    halt.watched(|| control.run(LoadPhase::Prepare, None, |admin| Ok(admit(admin))))??;
    let tables = data.tables(caps);
    if let Some(sql) = data.sql_data() {
        let load = Load::new(data, caps, how, &tables, progress);
        let done = halt.watched(|| load.by_sql(&mut control, sql, began));
        control.end();
        return done.map_err(|error| looked_up(error, options, data));
    }
    let uneven = distribute::admit(caps, &tables)?;
    let resumable = is_resumable(data, how);
    let read = |admin: &mut Admin| Ok(ServerSettings::read(admin, caps.major()));
    let settings = halt.watched(|| control.run(LoadPhase::Prepare, None, read))?;
    let settings =
        steps::LOAD_SETTINGS.decide(settings).map_err(|error| LoadError::of(LoadPhase::Prepare, None, error.source))?;
    let mut left_out = Vec::new();
    let server =
        settings.or_warn(|warning| left_out.push(warning)).unwrap_or_else(|| ServerSettings::unknown(caps.major()));
    let conditions = Conditions { caps: caps.clone(), server, scale: data.scale(), resumable };
    let loaders = conditions.useful_loaders(&tables, how.loaders.max(1));
    let way = conditions.way_of_largest(&tables, loaders);
    // Set once there is something to resume.
    let logbook_begun = AtomicBool::new(false);
    let done = halt.watched(|| {
        let mut load = Load::new(data, caps, how, &tables, progress);
        let names: Vec<_> = tables.iter().map(|table| table.name).collect();
        let mut stamp = Stamp::planned(data, &names);
        // Connections first: nothing is dropped if there is not even one.
        let mut sessions = Vec::new();
        while sessions.len() < loaders {
            match Admin::connect(options) {
                Ok(admin) => sessions.push(Session::new(admin, &halt)?),
                Err(error @ ConnectError::TooManyConnections { .. }) if !sessions.is_empty() => {
                    load.notes
                        .push(steps::LOADERS.left_out(&format!("{} of {loaders} connect: {error}", sessions.len())));
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let loaders = sessions.len();
        load.notes.extend(left_out);
        load.notes.extend(uneven);
        load.spread(options, &mut control, &mut sessions)?;
        let Prepared { schema, found } = load.phase(LoadPhase::Prepare, |load| load.prepare(&mut control, &stamp))?;
        logbook_begun.store(load.logbook.is_some(), Ordering::Relaxed);
        let rows_kept = found.far.rows;
        progress(&LoadProgress::Plan {
            tables: tables.len(),
            rows_expected: tables.iter().map(|table| table.rows.expected()).sum(),
            rows_kept,
            loaders,
        });
        if let Some(way) = &way {
            progress(&LoadProgress::Way(way));
        }
        let plan = FillPlan {
            // A load that is resumed has a logbook, whatever its options are.
            conditions: Conditions { resumable: load.logbook.is_some(), ..conditions.clone() },
            mark: stamp::mark_sql(data),
            freeze_suffices: caps.major() >= 14,
            unlogged: load.unlogged,
            logbook: load.logbook.clone(),
            found,
        };
        let plan = if let (Some(shared), Some(logbook)) = (shared, &load.logbook.clone()) {
            let found = load.phase(LoadPhase::Rows, |load| {
                LoaderWork::new(&tables, loaders, &plan, &halt, progress).create_split(&mut sessions)?;
                let queue = Queue::new(&tables, logbook, &halt, progress);
                let mut schedule = plan.schedule(&tables, loaders);
                queue.put(&mut sessions[0], &mut schedule)?;
                shared.begun(&schema);
                looking_in(|| control.look_in(), || queue.work(&mut sessions))?;
                // Index statements of an earlier load are in the logbook, too.
                sessions[0].run(LoadPhase::Rows, None, |admin| logbook.progress(admin, load.unlogged))
            })?;
            FillPlan { found, ..plan }
        } else {
            plan
        };
        let work = LoaderWork::new(&tables, loaders, &plan, &halt, progress);
        // Its session holds the load's lock, and has nothing to do until all rows are there.
        let (filled, spans) = looking_in(|| control.look_in(), || work.run(&mut sessions))?;
        drop(sessions);
        load.spans.extend(spans);
        for (row, table) in stamp.rows.iter_mut().zip(&filled) {
            row.1 = table.rows;
        }
        load.finish(&mut control, &schema, &mut stamp, &plan.found)?;
        let sizes = control.run(LoadPhase::Stamp, None, |admin| Ok(relations::sizes(admin, caps, &schema, &names)))?;
        let data_bytes = load.decide(&steps::SIZES, LoadPhase::Stamp, sizes)?;
        let invisible =
            control.run(LoadPhase::Stamp, None, |admin| Ok(relations::invisible(admin, &schema, &names, loaders)))?;
        let invisible = load.decide(&steps::SCHEMA, LoadPhase::Stamp, invisible)?;
        load.notes.extend(invisible.unwrap_or_default());
        Ok(LoadReport { rows_kept, ..load.report(stamp, &filled, data_bytes, loaders, began) })
    });
    control.end();
    // A connection that failed to open then was interrupted.
    let stopped = |error: &LoadError| halt.is_interrupted() && matches!(error, LoadError::Connect(_));
    let done = done.map_err(|error| if stopped(&error) { LoadError::Interrupted } else { error });
    let done = done.map_err(|error| if logbook_begun.load(Ordering::Relaxed) { error.resumable() } else { error });
    done.map_err(|error| looked_up(error, options, data))
}

/// Returns the error of an interrupted load, or of one that lost its connection, with what is there now: a cancelled COMMIT
/// may have happened, and data to be replaced may still be there.
fn looked_up(error: LoadError, options: &ConnectOptions, data: &dyn DataSet) -> LoadError {
    let error = match error {
        LoadError::Undroppable { source, .. } if source.is_lost() => LoadError::of(LoadPhase::Prepare, None, source),
        other => other,
    };
    match error {
        LoadError::Interrupted => LoadError::Stopped(Remains::ask(options, data)),
        LoadError::Suspended => match Remains::ask(options, data) {
            // The logbook has what is committed.
            Remains::Part | Remains::Unknown(_) => LoadError::Suspended,
            remains => LoadError::Stopped(remains),
        },
        LoadError::Lost { phase, table, source, resumable, .. } => {
            LoadError::Lost { phase, table, source, resumable, remains: Some(Box::new(Remains::ask(options, data))) }
        }
        other => other,
    }
}

/// Returns how a load with these options fills the largest table, and why, in one line: `pgbench_accounts: …`. `None` if
/// one connection loads, or SQL does.
#[must_use]
pub fn way(data: &dyn DataSet, caps: &Capabilities, how: &LoadOptions, server: ServerSettings) -> Option<String> {
    if data.sql_data().is_some() {
        return None;
    }
    let resumable = is_resumable(data, how);
    let conditions = Conditions { caps: caps.clone(), server, scale: data.scale(), resumable };
    let tables = data.tables(caps);
    conditions.way_of_largest(&tables, conditions.useful_loaders(&tables, how.loaders.max(1)))
}
