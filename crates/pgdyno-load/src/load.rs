//! A load, from the connections to the stamp.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pgdyno_net::{Admin, AdminError, ConnectOptions, quote};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Capabilities, Table, Workload};

use crate::drop::{drop_all, lock_key};
use crate::halt::Halt;
use crate::inventory::Inventory;
use crate::loaders::{Filled, Span, Work};
use crate::session::Session;
use crate::state::examine;
use crate::{DataState, LoadError, LoadReport, Phase, PhaseReport, Progress, Stamp, TableReport};
use crate::{identity, routines, stamp};

/// The most memory that one session takes for an index: beyond it sorting gains little.
const INDEX_MEMORY_BYTES_MAX: u64 = 1 << 30;

/// How to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// Connections that load; those that would have nothing to do are not opened. One more connection watches
    /// over all.
    pub loaders: usize,
    /// Drop what bears the names of the tables and routines and is not ours.
    pub force: bool,
    /// Drop our own data, even if it is complete.
    pub replace: bool,
}

/// Loads the data of `workload`: drops what is in the way and may go, creates tables, copies rows, builds
/// indexes, and stamps the data when all is there.
///
/// Tables of an interrupted load are dropped without being asked for. Each table is created, copied and frozen in
/// one transaction by one loader; only a table so large that all others would wait for it is filled by several
/// and vacuumed. Data that SQL makes ([`Workload::sql_data`]) is made on one connection, and what came of it is found in
/// the catalog and marked. Limits of time that the role or database may have do not count for the load.
///
/// `stop` is looked at all the time: once it is set, running statements are cancelled and the load ends.
///
/// # Errors
/// When something is in the way, the server refuses a statement, a connection breaks, or `stop` is set. No
/// stamp is left then that could be taken for complete data, and no statement runs on.
pub fn load(
    options: &ConnectOptions,
    workload: &dyn Workload,
    caps: &Capabilities,
    how: &LoadOptions,
    progress: &(dyn Fn(&Progress<'_>) + Sync),
    stop: &AtomicBool,
) -> Result<LoadReport, LoadError> {
    let meta = workload.meta();
    if !meta.has_data() {
        return Err(LoadError::NoData(meta.id));
    }
    let began = Instant::now();
    let halt = Halt::new(stop);
    let mut control = Session::new(Admin::connect(options)?, &halt)?;
    let tables = workload.tables(caps);
    if let Some(data) = workload.sql_data() {
        let load = Load { workload, caps, how, tables: &tables, progress, spans: Vec::new(), notes: Vec::new() };
        let done = halt.watched(|| load.by_sql(&mut control, data, began));
        control.end();
        return done;
    }
    let mark = quote::literal(&stamp::mark(meta.dataset, &identity(workload)));
    let loaders = how.loaders.max(1);
    let work = Work::new(&tables, loaders, mark, caps.major() >= 14, &halt, progress);
    let loaders = loaders.min(work.useful_loaders());
    progress(&Progress::Plan {
        tables: tables.len(),
        rows_expected: tables.iter().map(|table| table.rows.expected()).sum(),
        loaders,
    });
    let done = halt.watched(|| {
        let mut load = Load { workload, caps, how, tables: &tables, progress, spans: Vec::new(), notes: Vec::new() };
        let names: Vec<_> = tables.iter().map(|table| table.name).collect();
        let mut stamp = Stamp::planned(workload, &names);
        // Connections first: nothing is dropped when there are too few.
        let mut sessions = Vec::new();
        for _ in 0..loaders {
            let mut session = Session::new(Admin::connect(options)?, &halt)?;
            session.run(Phase::Prepare, None, |admin| set_index_memory(admin, loaders))?;
            sessions.push(session);
        }
        let schema = load.phase(Phase::Prepare, |load| load.prepare(&mut control, &stamp))?;
        let (filled, spans) = work.run(&mut sessions)?;
        drop(sessions);
        load.spans.extend(spans);
        for (row, table) in stamp.rows.iter_mut().zip(&filled) {
            row.1 = table.rows;
        }
        load.finish(&mut control, &schema, &mut stamp)?;
        let data_bytes = control.run(Phase::Stamp, None, |admin| sizes(admin, &schema, &names))?;
        load.note_invisible(&mut control, &schema)?;
        Ok(load.report(stamp, &filled, data_bytes, loaders, began))
    });
    control.end();
    done
}

pub(crate) struct Load<'a> {
    pub(crate) workload: &'a dyn Workload,
    caps: &'a Capabilities,
    how: &'a LoadOptions,
    tables: &'a [Table],
    pub(crate) progress: &'a (dyn Fn(&Progress<'_>) + Sync),
    pub(crate) spans: Vec<Span>,
    pub(crate) notes: Vec<String>,
}

impl Load<'_> {
    pub(crate) fn phase<T>(
        &mut self,
        phase: Phase,
        work: impl FnOnce(&mut Self) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        (self.progress)(&Progress::Phase(phase));
        let began = Instant::now();
        let done = work(self)?;
        self.spans.push(Span { phase, began, ended: Instant::now() });
        Ok(done)
    }

    /// Takes the lock, drops what may go, and says that a load has begun. Returns the schema, quoted where
    /// need be.
    pub(crate) fn prepare(&self, control: &mut Session<'_>, stamp: &Stamp) -> Result<String, LoadError> {
        let dataset = self.workload.meta().dataset;
        // Held until the connection ends: a transaction that lasted would keep VACUUM from freezing.
        let got = control.run(Phase::Prepare, None, |admin| {
            admin.query_one(&format!("select pg_try_advisory_lock({})", lock_key(dataset)))
        })?;
        if got != "t" {
            return Err(LoadError::Busy { dataset });
        }
        let schema = in_transaction(control, |admin| self.clear(admin, stamp))?;
        // Not in the same transaction: where the disk is full, it is this commit that makes room.
        in_transaction(control, |admin| {
            let begun = admin.execute(&stamp::create_sql(&schema));
            begun
                .and_then(|_| admin.execute(&stamp::begin_sql(&schema, stamp)))
                .map_err(|error| LoadError::of(Phase::Prepare, None, error))
        })?;
        Ok(schema)
    }

    /// Drops what may go.
    fn clear(&self, admin: &mut Admin, stamp: &Stamp) -> Result<String, LoadError> {
        let inventory = Inventory::take(admin, self.workload, self.caps)?;
        if inventory.foreign().is_empty() && !self.how.replace {
            let state = examine(admin, self.workload, &inventory)?;
            if let DataState::Complete(found) | DataState::Other(found) = state {
                return Err(LoadError::Exists { found: Box::new(found), wanted: Box::new(stamp.clone()) });
            }
        }
        drop_all(admin, &inventory, &stamp.dataset, self.how.force)?;
        Ok(inventory.schema)
    }

    /// All that comes after the tables.
    pub(crate) fn finish(
        &mut self,
        control: &mut Session<'_>,
        schema: &str,
        stamp: &mut Stamp,
    ) -> Result<(), LoadError> {
        let foreign_keys: Vec<_> =
            self.tables.iter().flat_map(|table| table.foreign_keys.iter().map(move |sql| (table.name, sql))).collect();
        if !foreign_keys.is_empty() {
            // One after another: two that lock the same tables in another order would wait in a circle.
            self.phase(Phase::ForeignKeys, |load| {
                for (done, (table, sql)) in foreign_keys.iter().enumerate() {
                    control.execute(Phase::ForeignKeys, Some(table), sql)?;
                    let (phase, total) = (Phase::ForeignKeys, foreign_keys.len());
                    (load.progress)(&Progress::Step { phase, done: done + 1, total });
                }
                Ok(())
            })?;
        }
        let routines = self.workload.routines(self.caps);
        if !routines.is_empty() {
            self.phase(Phase::Routines, |load| {
                let sql = routines::create_sql(load.workload, schema, &routines);
                control.execute(Phase::Routines, None, &sql)
            })?;
        }
        self.phase(Phase::Checkpoint, |load| load.checkpoint(control))?;
        self.phase(Phase::Stamp, |_| {
            control.run(Phase::Stamp, None, |admin| {
                admin.execute(&stamp::complete_sql(schema, stamp))?;
                if let Some((written, true)) = stamp::read(admin, schema, &stamp.dataset)? {
                    *stamp = written;
                }
                Ok(())
            })
        })
    }

    /// So that a run does not begin with writing out what the load has left in memory.
    fn checkpoint(&mut self, control: &mut Session<'_>) -> Result<(), LoadError> {
        match control.execute(Phase::Checkpoint, None, "checkpoint") {
            Err(LoadError::Failed { source, .. }) => {
                self.notes.push(match source.code() {
                    Some(SqlState::INSUFFICIENT_PRIVILEGE) => "no CHECKPOINT after the load: it takes a superuser or, \
                         since PostgreSQL 15, a member of pg_checkpoint; the server may write out loaded data during \
                         the run"
                        .to_owned(),
                    _ => format!("no CHECKPOINT after the load: {source}"),
                });
                Ok(())
            }
            other => other.map(drop),
        }
    }

    /// Pages that are not all-visible cost index-only scans and a VACUUM later on. A few are no news: loaders
    /// that extend a table side by side leave some pages empty.
    fn note_invisible(&mut self, control: &mut Session<'_>, schema: &str) -> Result<(), LoadError> {
        let names: Vec<_> = self.tables.iter().map(|table| quote::literal(table.name)).collect();
        let rows = control.run(Phase::Stamp, None, |admin| {
            admin.query(&format!(
                "select relname, relpages - relallvisible, relpages from pg_class \
                 where relnamespace = {}::regnamespace and relname = any (array[{}]::name[]) \
                 and relallvisible < relpages * 0.95 order by relname",
                quote::literal(schema),
                names.join(", ")
            ))
        })?;
        for row in rows.rows {
            let text = |at: usize| row[at].as_deref().unwrap_or_default();
            self.notes.push(format!(
                "{} of {} pages of table {} are not all-visible: another session held an old snapshot, or the \
                 server does not freeze on COPY; VACUUM it before a run",
                text(1),
                text(2),
                text(0)
            ));
        }
        Ok(())
    }

    fn report(self, stamp: Stamp, filled: &[Filled], data_bytes: u64, loaders: usize, began: Instant) -> LoadReport {
        let table = |(table, filled): (&Table, &Filled)| TableReport {
            name: table.name.to_owned(),
            rows: filled.rows,
            copy_bytes: filled.copy_bytes,
            seconds: filled.seconds(),
            loaders: filled.loaders,
        };
        let tables = self.tables.iter().zip(filled).map(table).collect();
        self.report_of(stamp, tables, data_bytes, loaders, began)
    }

    pub(crate) fn report_of(
        mut self,
        stamp: Stamp,
        tables: Vec<TableReport>,
        data_bytes: u64,
        loaders: usize,
        began: Instant,
    ) -> LoadReport {
        self.spans.sort_by_key(|span| span.phase);
        let phase = |span: &Span| PhaseReport {
            phase: span.phase,
            seconds: span.ended.duration_since(span.began).as_secs_f64(),
        };
        LoadReport {
            stamp,
            tables,
            phases: self.spans.iter().map(phase).collect(),
            seconds: began.elapsed().as_secs_f64(),
            data_bytes,
            loaders,
            notes: self.notes,
        }
    }
}

/// Runs `work` in a transaction of its own.
fn in_transaction<T>(
    session: &mut Session<'_>,
    work: impl FnOnce(&mut Admin) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    session.execute(Phase::Prepare, None, "begin")?;
    let done = session.run(Phase::Prepare, None, |admin| Ok(work(admin)))?;
    session.execute(Phase::Prepare, None, if done.is_ok() { "commit" } else { "rollback" })?;
    done
}

/// Gives index builds more memory than the server's setting, which is 64 MiB unless somebody raised it: all
/// loaders together up to half of `shared_buffers`, which is an eighth of the machine where the usual quarter
/// is followed. Never less than the setting.
fn set_index_memory(admin: &mut Admin, loaders: usize) -> Result<(), AdminError> {
    let bytes = |admin: &mut Admin, name: &str| -> Result<u64, AdminError> {
        let text = admin.query_one(&format!("select pg_size_bytes(current_setting('{name}'))"))?;
        Ok(text.parse().unwrap_or_default())
    };
    let share = bytes(admin, "shared_buffers")? / 2 / loaders as u64;
    if share.min(INDEX_MEMORY_BYTES_MAX) > bytes(admin, "maintenance_work_mem")? {
        admin.execute(&format!("set maintenance_work_mem = '{}kB'", share.min(INDEX_MEMORY_BYTES_MAX) / 1024))?;
    }
    Ok(())
}

/// Bytes of the tables with their indexes and TOAST.
pub(crate) fn sizes(admin: &mut Admin, schema: &str, tables: &[&str]) -> Result<u64, AdminError> {
    let names: Vec<_> = tables.iter().map(|name| quote::literal(name)).collect();
    let sum = admin.query_one(&format!(
        "select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class \
         where relnamespace = {}::regnamespace and relname = any (array[{}]::name[])",
        quote::literal(schema),
        names.join(", ")
    ))?;
    Ok(sum.parse().unwrap_or_default())
}
