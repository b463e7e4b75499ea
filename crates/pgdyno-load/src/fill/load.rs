//! A load, from the connections to the stamp.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pgdyno_net::{Admin, AdminError, ConnectOptions, Halt, quote};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Capabilities, DataSet, Table};

use crate::fill::loaders::{Filled, Span, Work};
use crate::fill::plan::{FillPlan, useful_loaders};
use crate::fill::prepare::{Prepared, is_resumable};
use crate::fill::{distribute, nodes, routines};
use crate::session::Session;
use crate::state::inventory::Inventory;
use crate::state::ledger::{Found, Ledger};
use crate::state::{layout, relations, stamp};
use crate::{LoadError, LoadReport, Phase, PhaseReport, Progress, Stamp, TableReport};

/// Memory limit of one session for an index: beyond it sorting gains little.
const INDEX_MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Options of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Number of connections that load; unnecessary ones are not opened. One more connection controls the load.
    pub loaders: usize,
    /// Drop objects of other programs with the names of the tables and routines.
    pub force: bool,
    /// Drop data of pgdyno, even if it is complete.
    pub replace: bool,
    /// Commit part by part, so that the next load can resume an interrupted one. Always on for large data
    /// ([`crate::RESUMABLE_BYTES`]).
    pub resumable: bool,
    /// Create the tables unlogged, and make them logged after they are filled. Ignored if the server distributes
    /// tables.
    pub unlogged: bool,
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
) -> Result<LoadReport, LoadError> {
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
    let loaders = useful_loaders(&tables, caps, data.scale(), how.loaders.max(1), resumable);
    // Set once there is something to resume.
    let ledger_begun = AtomicBool::new(false);
    let done = halt.watched(|| {
        let mut load = Load::new(data, caps, how, &tables, progress);
        let names: Vec<_> = tables.iter().map(|table| table.name).collect();
        let mut stamp = Stamp::planned(data, &names);
        // Connections first: nothing is dropped if there are too few.
        let mut sessions = Vec::new();
        for _ in 0..loaders {
            let mut session = Session::new(Admin::connect(options)?, &halt)?;
            session.run(Phase::Prepare, None, |admin| set_index_memory(admin, loaders))?;
            sessions.push(session);
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
        let plan = FillPlan {
            mark: stamp::mark_sql(data),
            caps: caps.clone(),
            freeze_suffices: caps.major() >= 14,
            unlogged: load.unlogged,
            ledger: load.ledger.clone(),
            scale: data.scale(),
            found,
        };
        let work = Work::new(&tables, loaders, &plan, &halt, progress);
        let (filled, spans) = work.run(&mut sessions)?;
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

pub(crate) struct Load<'a> {
    pub(crate) data: &'a dyn DataSet,
    pub(crate) caps: &'a Capabilities,
    pub(crate) how: &'a LoadOptions,
    pub(crate) tables: &'a [Table],
    pub(crate) progress: &'a (dyn Fn(&Progress<'_>) + Sync),
    pub(crate) spans: Vec<Span>,
    pub(crate) notes: Vec<String>,
    /// The ledger, if the next load can resume this one.
    pub(crate) ledger: Option<Ledger>,
    /// Whether tables are created unlogged.
    pub(crate) unlogged: bool,
}

impl<'a> Load<'a> {
    fn new(
        data: &'a dyn DataSet,
        caps: &'a Capabilities,
        how: &'a LoadOptions,
        tables: &'a [Table],
        progress: &'a (dyn Fn(&Progress<'_>) + Sync),
    ) -> Self {
        let unlogged = how.unlogged && !caps.distributed_tables;
        let mut notes = Vec::new();
        if unlogged != how.unlogged {
            notes.push(
                "the tables were never unlogged: the server distributes them, and such tables are logged".to_owned(),
            );
        }
        Self { data, caps, how, tables, progress, spans: Vec::new(), notes, ledger: None, unlogged }
    }

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

    /// On a server that distributes tables: checks that routines will find the tables on the nodes, and opens
    /// connections for rows to the nodes, unless rows are committed with an entry in the ledger.
    fn spread(
        &mut self,
        options: &ConnectOptions,
        control: &mut Session<'_>,
        sessions: &mut [Session<'_>],
    ) -> Result<(), LoadError> {
        let Some(cluster) = self.caps.cluster.as_ref().filter(|_| self.caps.distributed_tables) else { return Ok(()) };
        let routines = self.data.routines(self.caps).list;
        control.run(Phase::Prepare, None, |admin| Ok(distribute::check_search_path(admin, self.caps, &routines)))??;
        if is_resumable(self.data, self.how) {
            return Ok(());
        }
        let ways = control.run(Phase::Prepare, None, |admin| nodes::dial(options, admin, cluster, sessions.len()))?;
        self.notes.extend(ways.notes);
        for (session, rows) in sessions.iter_mut().zip(ways.rows) {
            rows.map_or(Ok(()), |rows| session.send_rows_over(rows))?;
        }
        Ok(())
    }

    /// Does everything after the tables.
    pub(crate) fn finish(
        &mut self,
        control: &mut Session<'_>,
        schema: &str,
        stamp: &mut Stamp,
        found: &Found,
    ) -> Result<(), LoadError> {
        let foreign_keys = self.foreign_keys(found);
        if !foreign_keys.is_empty() {
            // One after another: two that lock the same tables in different orders would deadlock.
            self.phase(Phase::ForeignKeys, |load| {
                for (done, (table, sql)) in foreign_keys.iter().enumerate() {
                    control.execute(Phase::ForeignKeys, Some(*table), sql)?;
                    let (phase, total) = (Phase::ForeignKeys, foreign_keys.len());
                    (load.progress)(&Progress::Step { phase, done: done + 1, total });
                }
                Ok(())
            })?;
        }
        let routines = self.data.routines(self.caps).list;
        if !routines.is_empty() {
            self.phase(Phase::Routines, |load| {
                let sql = routines::create_sql(load.data, load.caps, schema, &routines);
                control.execute(Phase::Routines, None, &sql)
            })?;
        }
        self.phase(Phase::Checkpoint, |load| load.checkpoint(control))?;
        self.phase(Phase::Stamp, |load| {
            let (data, caps) = (load.data, load.caps);
            // SQL files may have changed it.
            let home = format!("select set_config('search_path', {}, false)", quote::literal(schema));
            let inventory = control.run(Phase::Stamp, None, |admin| {
                admin.query(&home)?;
                Ok(Inventory::take(admin, data, caps))
            })??;
            control.run(Phase::Stamp, None, |admin| {
                let made = layout::found(admin, data, caps, &inventory)?;
                let complete = stamp::complete_sql(schema, stamp, &made);
                let close = load.ledger.as_ref().map_or(String::new(), |ledger| format!("; {}", ledger.drop_sql()));
                admin.execute(&(complete + &close))?;
                if let Some((written, true)) = stamp::read(admin, schema, &stamp.dataset)? {
                    *stamp = written;
                }
                Ok(())
            })
        })
    }

    /// Returns SQL that adds missing foreign keys, each with its table.
    fn foreign_keys(&self, found: &Found) -> Vec<(&'a str, String)> {
        let mut statements = Vec::new();
        for table in self.tables {
            let there = found.tables.get(table.name).map_or(&[][..], |table| &table.foreign_keys);
            for (nth, sql) in table.foreign_keys.iter().enumerate().filter(|(nth, _)| !there.contains(nth)) {
                // The entry comes first: it blocks the next load while this one is in progress.
                let entry = self.ledger.as_ref().map(|ledger| ledger.foreign_key_sql(table.name, nth) + "; ");
                statements.push((table.name, entry.unwrap_or_default() + sql));
            }
        }
        statements
    }

    /// Runs CHECKPOINT, so that a run does not begin by writing out the load.
    fn checkpoint(&mut self, control: &mut Session<'_>) -> Result<(), LoadError> {
        if self.caps.distributed_tables {
            self.notes.extend(control.run(Phase::Checkpoint, None, distribute::checkpoint)?);
        }
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
        let mut latest = began;
        let phase = |span: &Span| {
            let added = span.ended.saturating_duration_since(latest.max(span.began));
            latest = latest.max(span.ended);
            PhaseReport {
                phase: span.phase,
                seconds: span.ended.duration_since(span.began).as_secs_f64(),
                seconds_added: added.as_secs_f64(),
            }
        };
        LoadReport {
            stamp,
            tables,
            phases: self.spans.iter().map(phase).collect(),
            seconds: began.elapsed().as_secs_f64(),
            data_bytes,
            loaders,
            rows_kept: 0,
            notes: self.notes,
        }
    }
}

/// Raises the memory for index builds above the server's setting, which is 64 MiB by default: up to half of
/// `shared_buffers` for all loaders together, an eighth of the machine's memory with the usual quarter. Never lowers
/// the setting.
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
