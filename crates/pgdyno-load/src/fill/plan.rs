//! How the tables of a load are filled.

use pgdyno_workload::{Capabilities, Partitions, Table};

use crate::fill::cost::{Costs, ServerSettings};
use crate::fill::distribute;
use crate::fill::schedule::{Filling, Job, Schedule};
use crate::fill::ways::Way;
use crate::state::ledger::{Found, KeptTable, Ledger};

/// How all tables are filled.
pub(crate) struct FillPlan {
    /// The comment that marks tables of pgdyno, as a literal.
    pub(crate) mark: String,
    /// Abilities of the server.
    pub(crate) caps: Capabilities,
    /// Settings of the server.
    pub(crate) server: ServerSettings,
    /// Whether COPY FREEZE marks pages all-visible, so that no VACUUM is needed (PostgreSQL 14).
    pub(crate) freeze_suffices: bool,
    /// Whether tables are created unlogged.
    pub(crate) unlogged: bool,
    /// The ledger, if the next load can resume this one.
    pub(crate) ledger: Option<Ledger>,
    /// Warehouses, or the scale factor.
    pub(crate) scale: u64,
    /// Progress of an interrupted load.
    pub(crate) found: Found,
}

impl FillPlan {
    /// Returns the progress of a table.
    pub(crate) fn kept(&self, table: &Table) -> Option<&KeptTable> {
        self.found.tables.get(table.name)
    }

    pub(crate) fn schedule(&self, tables: &[Table], loaders: usize) -> Schedule {
        let job = |table: &Table| {
            let kept = self.kept(table);
            let planned = job(table, &self.caps, self.scale, self.ledger.is_some(), &self.server);
            Job {
                unlogged: kept.map_or(self.unlogged, |kept| kept.unlogged),
                kept: kept.map(|kept| kept.done.clone()),
                // Rows of an unlogged table are written once more before they are frozen.
                vacuumed_chunks: planned.vacuumed_chunks.filter(|_| !self.unlogged),
                ..planned
            }
        };
        Schedule::new(tables.iter().map(job).collect(), loaders, &costs(tables, self.server)).0
    }
}

fn costs(tables: &[Table], server: ServerSettings) -> Costs {
    Costs::new(server, tables.iter().map(|table| table.bytes).sum())
}

/// Returns how many of so many loaders can be busy at a time.
pub(crate) fn useful_loaders(
    tables: &[Table],
    caps: &Capabilities,
    scale: u64,
    loaders: usize,
    resumable: bool,
    server: ServerSettings,
) -> usize {
    let jobs = tables.iter().map(|table| job(table, caps, scale, resumable, &server)).collect();
    loaders.min(Schedule::new(jobs, loaders, &costs(tables, server)).0.useful_loaders())
}

/// Returns how the largest table is filled, and why, as a sentence; `None` if one connection is all there is.
pub(crate) fn way_of_largest(
    tables: &[Table],
    caps: &Capabilities,
    scale: u64,
    loaders: usize,
    resumable: bool,
    server: ServerSettings,
) -> Option<String> {
    let jobs: Vec<_> = tables.iter().map(|table| job(table, caps, scale, resumable, &server)).collect();
    let (n, largest) = jobs.iter().enumerate().max_by_key(|(_, job)| job.bytes)?;
    if loaders < 2 || largest.chunks < 2 {
        return None;
    }
    let largest = largest.clone();
    let way = *Schedule::new(jobs, loaders, &costs(tables, server)).1.get(n)?;
    Some(format!("{}: {}", tables[n].name, sentence(&way, &largest, loaders, server)))
}

fn sentence(way: &Way, job: &Job, loaders: usize, server: ServerSettings) -> String {
    let wal = if server.has_wal { "" } else { ", which writes no WAL here" };
    match (way.filling, way.shared_by_whole) {
        (Filling::Partitions, _) => format!("its partitions are filled side by side with COPY FREEZE{wal}"),
        (Filling::Shared, _) if job.unit.is_some() && job.vacuumed_chunks.is_some() => {
            format!("{loaders} connections commit part by part, and VACUUM freezes what they leave behind")
        }
        (Filling::Shared, None) if job.unit.is_some() => {
            format!("{loaders} connections commit part by part, then VACUUM freezes it")
        }
        (Filling::Shared, Some(ratio)) => format!(
            "{loaders} connections copy, then VACUUM freezes it: the load takes about {ratio:.2} of the time with one \
             COPY FREEZE"
        ),
        (Filling::Shared, None) => format!("{loaders} connections copy, then VACUUM freezes it"),
        (Filling::Whole, Some(ratio)) => format!(
            "one COPY FREEZE{wal}: {loaders} connections and a VACUUM would take about {ratio:.2} of the load's time"
        ),
        (Filling::Whole, None) => format!("one COPY FREEZE{wal}"),
    }
}

fn job(table: &Table, caps: &Capabilities, scale: u64, resumable: bool, server: &ServerSettings) -> Job {
    let chunks = table.source.as_ref().map_or(0, |source| source.chunks());
    let known = table.partitions.known().iter();
    let spread = distribute::is_spread(caps, table);
    let unit = resumable.then(|| unit(chunks, scale));
    // Where the rows outgrow memory or the WAL between two checkpoints before the last of them is there.
    let vacuumed = server.vacuumed_bytes();
    let is_vacuumed_behind = unit.is_some() && !spread && table.bytes / 2 > vacuumed;
    Job {
        bytes: table.bytes,
        chunks,
        vacuumed_chunks: is_vacuumed_behind
            .then(|| (u128::from(chunks) * u128::from(vacuumed)).div_ceil(u128::from(table.bytes)) as u64),
        indexes: index_statements(table).into_iter().map(|statement| statement.beside).collect(),
        unit,
        // A part that is committed together is smaller than a partition then.
        routed: table.partitions == Partitions::Routed || (resumable && table.partitions != Partitions::None),
        partitions: if resumable { Vec::new() } else { known.map(|partition| partition.chunks.clone()).collect() },
        spread,
        ..Job::default()
    }
}

/// A statement that creates an index.
pub(crate) struct IndexStatement<'a> {
    pub(crate) sql: &'a str,
    /// Whether it may run beside others of the same table that may.
    beside: bool,
}

/// Returns all index statements of a table, those of its partitions first.
pub(crate) fn index_statements(table: &Table) -> Vec<IndexStatement<'_>> {
    let partitions = table.partitions.known();
    let of_partitions = partitions.iter().flat_map(|partition| &partition.indexes);
    let of_partitions = of_partitions.map(|sql| IndexStatement { sql, beside: true });
    // CREATE INDEX locks a table against writers, not against another CREATE INDEX; ALTER TABLE locks it against all.
    // On a partitioned table it must wait for the statements on partitions.
    let is_create = |sql: &str| sql.trim_start().to_lowercase().starts_with("create");
    let of_table = table.indexes.iter();
    let of_table = of_table.map(|sql| IndexStatement { sql, beside: partitions.is_empty() && is_create(sql) });
    of_partitions.chain(of_table).collect()
}

/// Returns the number of chunks per warehouse; 1 if they do not divide evenly.
fn unit(chunks: u64, scale: u64) -> u64 {
    if scale > 0 && chunks > 0 && chunks.is_multiple_of(scale) { chunks / scale } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_what_one_warehouse_takes() {
        assert_eq!([unit(20, 2), unit(10, 10), unit(10, 3), unit(1, 5), unit(0, 5), unit(7, 0)], [10, 1, 1, 1, 1, 1]);
    }
}
