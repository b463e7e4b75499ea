//! How the tables of a load are filled.

use pgdyno_workload::{Capabilities, Table};

use crate::distribute;
use crate::ledger::{Found, KeptTable, Ledger};
use crate::schedule::{Job, Schedule};

/// How all of them are filled.
pub(crate) struct Manner {
    /// The comment that marks what is ours, as a literal.
    pub(crate) mark: String,
    /// What the server can do.
    pub(crate) caps: Capabilities,
    /// Whether COPY FREEZE leaves pages marked as all-visible, so that no VACUUM is needed (PostgreSQL 14).
    pub(crate) freeze_suffices: bool,
    /// Whether tables are created unlogged.
    pub(crate) unlogged: bool,
    /// Where the next load may go on, what is done is entered here.
    pub(crate) ledger: Option<Ledger>,
    /// Warehouses, or the scale factor.
    pub(crate) scale: u64,
    /// What an interrupted load has left.
    pub(crate) found: Found,
}

impl Manner {
    /// What there is of a table already.
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

/// The most loaders of so many that can be busy at a time.
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
    Job {
        bytes: table.bytes,
        chunks,
        // CREATE INDEX locks a table against writers, not against another CREATE INDEX; ALTER TABLE against all.
        indexes: table.indexes.iter().map(|sql| sql.trim_start().to_lowercase().starts_with("create")).collect(),
        unit: resumable.then(|| unit(chunks, scale)),
        partitioned: table.partitioned,
        spread: distribute::is_spread(caps, table),
        ..Job::default()
    }
}

/// How many chunks make one warehouse; one where they do not divide so.
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
