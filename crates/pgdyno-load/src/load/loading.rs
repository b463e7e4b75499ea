//! A load that is under way: its options, what it knows, its phases and its report.

use std::time::Instant;

use pgdyno_net::{AdminError, ConnectOptions};
use pgdyno_workload::{Capabilities, DataSet, Table};

use crate::load::loaders::{Filled, Span};
use crate::load::{distribute, nodes, routines};
use crate::session::Session;
use crate::state::inventory::Inventory;
use crate::state::logbook::{Found, Logbook};
use crate::state::{layout, stamp};
use crate::steps::{self, ServerStep};
use crate::{LoadError, LoadPhase, LoadProgress, LoadReport, PhaseReport, Stamp, TableReport};

/// Loads of this estimated size and above are resumable. Below it, whole tables in one transaction each are faster,
/// and starting again is cheap.
pub const RESUMABLE_BYTES: u64 = 10 << 30;

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

/// SQL makes its data in one transaction.
pub(crate) fn is_resumable(data: &dyn DataSet, how: &LoadOptions) -> bool {
    data.sql_data().is_none() && (how.resumable || data.bytes() >= RESUMABLE_BYTES)
}

/// A load that is under way.
pub(crate) struct Load<'a> {
    pub(crate) data: &'a dyn DataSet,
    pub(crate) caps: &'a Capabilities,
    pub(crate) how: &'a LoadOptions,
    pub(crate) tables: &'a [Table],
    pub(crate) progress: &'a (dyn Fn(&LoadProgress<'_>) + Sync),
    pub(crate) spans: Vec<Span>,
    pub(crate) notes: Vec<String>,
    /// The logbook, if the next load can resume this one.
    pub(crate) logbook: Option<Logbook>,
    /// Whether tables are created unlogged.
    pub(crate) unlogged: bool,
}

impl<'a> Load<'a> {
    pub(crate) fn new(
        data: &'a dyn DataSet,
        caps: &'a Capabilities,
        how: &'a LoadOptions,
        tables: &'a [Table],
        progress: &'a (dyn Fn(&LoadProgress<'_>) + Sync),
    ) -> Self {
        let unlogged = how.unlogged && !caps.distributed_tables;
        let mut notes = Vec::new();
        if unlogged != how.unlogged {
            notes.push(
                "--unlogged has no effect: the server distributes the tables, and distributed tables are always logged"
                    .to_owned(),
            );
        }
        Self { data, caps, how, tables, progress, spans: Vec::new(), notes, logbook: None, unlogged }
    }

    /// Decides what the outcome of a step means; notes that an optional one was left out.
    pub(crate) fn decide<T>(
        &mut self,
        step: &'static ServerStep,
        phase: LoadPhase,
        outcome: Result<T, AdminError>,
    ) -> Result<Option<T>, LoadError> {
        let done = step.decide(outcome).map_err(|error| LoadError::of(phase, None, error.source))?;
        Ok(done.or_warn(|warning| self.notes.push(warning)))
    }

    pub(crate) fn phase<T>(
        &mut self,
        phase: LoadPhase,
        work: impl FnOnce(&mut Self) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        (self.progress)(&LoadProgress::Phase(phase));
        let began = Instant::now();
        let done = work(self)?;
        self.spans.push(Span { phase, began, ended: Instant::now() });
        Ok(done)
    }

    /// On a server that distributes tables: checks that routines will find the tables on the nodes, and opens
    /// connections for rows to the nodes, unless rows are committed with an entry in the logbook.
    pub(crate) fn spread(
        &mut self,
        options: &ConnectOptions,
        control: &mut Session<'_>,
        sessions: &mut [Session<'_>],
    ) -> Result<(), LoadError> {
        let Some(cluster) = self.caps.cluster.as_ref().filter(|_| self.caps.distributed_tables) else { return Ok(()) };
        let routines = self.data.routines(self.caps).list;
        control
            .run(LoadPhase::Prepare, None, |admin| Ok(distribute::check_search_path(admin, self.caps, &routines)))??;
        if is_resumable(self.data, self.how) {
            return Ok(());
        }
        let ways =
            control.run(LoadPhase::Prepare, None, |admin| nodes::dial(options, admin, cluster, sessions.len()))?;
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
            self.phase(LoadPhase::ForeignKeys, |load| {
                for (done, (table, sql)) in foreign_keys.iter().enumerate() {
                    control.execute(LoadPhase::ForeignKeys, Some(*table), sql)?;
                    let (phase, total) = (LoadPhase::ForeignKeys, foreign_keys.len());
                    (load.progress)(&LoadProgress::Step { phase, done: done + 1, total });
                }
                Ok(())
            })?;
        }
        let routines = self.data.routines(self.caps).list;
        if !routines.is_empty() {
            self.phase(LoadPhase::Routines, |load| {
                let sql = routines::create_sql(load.data, load.caps, schema, &routines);
                control.execute(LoadPhase::Routines, None, &sql)
            })?;
        }
        self.phase(LoadPhase::Checkpoint, |load| load.checkpoint(control))?;
        self.phase(LoadPhase::Stamp, |load| {
            let (data, caps) = (load.data, load.caps);
            // SQL files may have changed it.
            let home = format!("set search_path = {schema}");
            let inventory = control.run(LoadPhase::Stamp, None, |admin| {
                admin.execute(&home)?;
                Ok(Inventory::take(admin, data, caps))
            })??;
            let made = control.run(LoadPhase::Stamp, None, |admin| Ok(layout::found(admin, data, caps, &inventory)))?;
            let made = load.decide(&steps::SCHEMA, LoadPhase::Stamp, made)?;
            control.run(LoadPhase::Stamp, None, |admin| {
                let complete = stamp::complete_sql(schema, stamp, made.as_ref());
                let close = load.logbook.as_ref().map_or(String::new(), |logbook| format!("; {}", logbook.drop_sql()));
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
                let entry = self.logbook.as_ref().map(|logbook| logbook.foreign_key_sql(table.name, nth) + "; ");
                statements.push((table.name, entry.unwrap_or_default() + sql));
            }
        }
        statements
    }

    /// Runs CHECKPOINT, so that a run does not begin by writing out the load.
    fn checkpoint(&mut self, control: &mut Session<'_>) -> Result<(), LoadError> {
        if self.caps.distributed_tables {
            self.notes.extend(control.run(LoadPhase::Checkpoint, None, distribute::checkpoint)?);
        }
        let outcome = control.run(LoadPhase::Checkpoint, None, |admin| Ok(admin.execute("checkpoint")))?;
        self.decide(&steps::CHECKPOINT, LoadPhase::Checkpoint, outcome).map(drop)
    }

    pub(crate) fn report(
        self,
        stamp: Stamp,
        filled: &[Filled],
        data_bytes: Option<u64>,
        loaders: usize,
        began: Instant,
    ) -> LoadReport {
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
        data_bytes: Option<u64>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_load_of_large_data_is_always_resumable() {
        let resumable = |warehouses, resumable| {
            let workload = pgdyno_workloads::registry::build("tproc-c", [("warehouses", warehouses)]).unwrap();
            is_resumable(&*workload.data[0], &LoadOptions { resumable, ..LoadOptions::default() })
        };
        assert_eq!([resumable("10", false), resumable("10", true), resumable("1000", false)], [false, true, true]);
    }
}
