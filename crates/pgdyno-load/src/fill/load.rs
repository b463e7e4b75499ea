//! A load, from the connections to the stamp.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pgdyno_net::{Admin, AdminError, ConnectOptions, Halt, looking_in};
use pgdyno_workload::{Capabilities, DataSet};

use crate::fill::cost::ServerSettings;
use crate::fill::distribute;
use crate::fill::loaders::Work;
use crate::fill::loading::{Load, LoadOptions, is_resumable};
use crate::fill::plan::{Conditions, FillPlan};
use crate::fill::prepare::Prepared;
use crate::fill::queue::Queue;
use crate::session::Session;
use crate::state::{relations, stamp};
use crate::{LoadError, LoadReport, Phase, Progress, Stamp};

/// Memory limit of one index: beyond it sorting gains little.
const INDEX_MEMORY_BYTES_MAX: u64 = 1 << 30;

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
/// such as a warehouse, together with an entry in a ledger. The next load of the same data keeps the rows and indexes
/// of the ledger, and does the rest; the rows are the same as those of an uninterrupted load. Data that SQL makes
/// ([`DataSet::sql_data`]) is made on one connection; its objects are found in the catalog and marked. Time limits of
/// the role or database are lifted.
///
/// With `shared`, the load is resumable, and rows of tables of several chunks are copied by this machine and others
/// together, each part by whoever takes it first. What others do not finish, this machine does.
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
    progress: &(dyn Fn(&Progress<'_>) + Sync),
    stop: &AtomicBool,
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
        None => return Err(LoadError::Interrupted),
    };
    let tables = data.tables(caps);
    if let Some(sql) = data.sql_data() {
        let load = Load::new(data, caps, how, &tables, progress);
        let done = halt.watched(|| load.by_sql(&mut control, sql, began));
        control.end();
        return done;
    }
    let uneven = distribute::admit(caps, &tables)?;
    let resumable = is_resumable(data, how);
    let read = |admin: &mut Admin| ServerSettings::read(admin, caps.major());
    let server = halt.watched(|| control.run(Phase::Prepare, None, read))?;
    let conditions = Conditions { caps: caps.clone(), server, scale: data.scale(), resumable };
    let loaders = conditions.useful_loaders(&tables, how.loaders.max(1));
    let way = conditions.way_of_largest(&tables, loaders);
    // Set once there is something to resume.
    let ledger_begun = AtomicBool::new(false);
    let done = halt.watched(|| {
        let mut load = Load::new(data, caps, how, &tables, progress);
        let names: Vec<_> = tables.iter().map(|table| table.name).collect();
        let mut stamp = Stamp::planned(data, &names);
        // Connections first: nothing is dropped if there are too few.
        let mut sessions = Vec::new();
        for _ in 0..loaders {
            sessions.push(Session::new(Admin::connect(options)?, &halt)?);
        }
        load.notes.extend(uneven);
        load.spread(options, &mut control, &mut sessions)?;
        let Prepared { schema, found } = load.phase(Phase::Prepare, |load| load.prepare(&mut control, &stamp))?;
        ledger_begun.store(load.ledger.is_some(), Ordering::Relaxed);
        let rows_kept = found.far.rows;
        progress(&Progress::Plan {
            tables: tables.len(),
            rows_expected: tables.iter().map(|table| table.rows.expected()).sum(),
            rows_kept,
            loaders,
        });
        if let Some(way) = &way {
            progress(&Progress::Way(way));
        }
        let plan = FillPlan {
            // A load that is resumed has a ledger, whatever its options are.
            conditions: Conditions { resumable: load.ledger.is_some(), ..conditions.clone() },
            mark: stamp::mark_sql(data),
            freeze_suffices: caps.major() >= 14,
            unlogged: load.unlogged,
            ledger: load.ledger.clone(),
            found,
        };
        let plan = if let (Some(shared), Some(ledger)) = (shared, &load.ledger.clone()) {
            let found = load.phase(Phase::Rows, |load| {
                Work::new(&tables, loaders, &plan, &halt, progress).create_split(&mut sessions)?;
                let queue = Queue::new(&tables, ledger, &halt, progress);
                let mut schedule = plan.schedule(&tables, loaders);
                queue.put(&mut sessions[0], &mut schedule)?;
                shared.begun(&schema);
                looking_in(|| control.look_in(), || queue.work(&mut sessions))?;
                // Index statements of an earlier load are in the ledger, too.
                sessions[0].run(Phase::Rows, None, |admin| ledger.progress(admin, load.unlogged))
            })?;
            FillPlan { found, ..plan }
        } else {
            plan
        };
        let work = Work::new(&tables, loaders, &plan, &halt, progress);
        // Its session holds the load's lock, and has nothing to do until all rows are there.
        let (filled, spans) = looking_in(|| control.look_in(), || work.run(&mut sessions))?;
        drop(sessions);
        load.spans.extend(spans);
        for (row, table) in stamp.rows.iter_mut().zip(&filled) {
            row.1 = table.rows;
        }
        load.finish(&mut control, &schema, &mut stamp, &plan.found)?;
        let (data_bytes, invisible) = control.run(Phase::Stamp, None, |admin| {
            Ok((
                relations::sizes(admin, caps, &schema, &names)?,
                relations::invisible(admin, &schema, &names, loaders)?,
            ))
        })?;
        load.notes.extend(invisible);
        Ok(LoadReport { rows_kept, ..load.report(stamp, &filled, data_bytes, loaders, began) })
    });
    control.end();
    // A connection that failed to open then was interrupted.
    let stopped = |error: &LoadError| halt.is_interrupted() && matches!(error, LoadError::Connect(_));
    let done = done.map_err(|error| if stopped(&error) { LoadError::Interrupted } else { error });
    done.map_err(|error: LoadError| if ledger_begun.load(Ordering::Relaxed) { error.resumable() } else { error })
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

/// Raises the memory of one index build above the server's setting, which is 64 MiB by default: up to half of
/// `shared_buffers` for all loaders together, an eighth of the machine's memory with the usual quarter. The share of `idle`
/// loaders is added; PostgreSQL gives an index one worker for each 32 MiB. Never lowers the server's setting.
pub(crate) fn set_index_memory(
    admin: &mut Admin,
    shared_buffers_bytes: u64,
    loaders: usize,
    idle: usize,
) -> Result<(), AdminError> {
    let share = (shared_buffers_bytes / 2 / loaders.max(1) as u64).saturating_mul(idle as u64 + 1);
    let kib = share.min(INDEX_MEMORY_BYTES_MAX) / 1024;
    let sql = format!(
        "select set_config(name, greatest(reset_val::bigint, {kib})::text, false) from pg_settings \
         where name = 'maintenance_work_mem'"
    );
    admin.query(&sql).map(drop)
}
