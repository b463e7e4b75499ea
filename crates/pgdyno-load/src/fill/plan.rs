//! How the tables of a load are filled.

use pgdyno_workload::{Capabilities, Partitions, Table};

use crate::fill::distribute;
use crate::fill::schedule::{Job, Schedule};
use crate::state::ledger::{Found, KeptTable, Ledger};

/// How all tables are filled.
pub(crate) struct FillPlan {
    /// The comment that marks tables of pgdyno, as a literal.
    pub(crate) mark: String,
    /// Abilities of the server.
    pub(crate) caps: Capabilities,
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
            Job {
                unlogged: kept.map_or(self.unlogged, |kept| kept.unlogged),
                kept: kept.map(|kept| kept.done.clone()),
                ..job(table, &self.caps, self.scale, self.ledger.is_some())
            }
        };
        Schedule::new(tables.iter().map(job).collect(), loaders)
    }
}

/// Returns how many of so many loaders can be busy at a time.
pub(crate) fn useful_loaders(
    tables: &[Table],
    caps: &Capabilities,
    scale: u64,
    loaders: usize,
    resumable: bool,
) -> usize {
    let jobs = tables.iter().map(|table| job(table, caps, scale, resumable)).collect();
    loaders.min(Schedule::new(jobs, loaders).useful_loaders())
}

fn job(table: &Table, caps: &Capabilities, scale: u64, resumable: bool) -> Job {
    let chunks = table.source.as_ref().map_or(0, |source| source.chunks());
    let known = table.partitions.known().iter();
    Job {
        bytes: table.bytes,
        chunks,
        indexes: index_statements(table).into_iter().map(|statement| statement.beside).collect(),
        unit: resumable.then(|| unit(chunks, scale)),
        // A part that is committed together is smaller than a partition then.
        routed: table.partitions == Partitions::Routed || (resumable && table.partitions != Partitions::None),
        partitions: if resumable { Vec::new() } else { known.map(|partition| partition.chunks.clone()).collect() },
        spread: distribute::is_spread(caps, table),
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
