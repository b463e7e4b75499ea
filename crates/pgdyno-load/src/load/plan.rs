//! How the tables of a load are filled.

use pgdyno_workload::{Capabilities, Partitions, Table};

use crate::load::cost::{Costs, ServerSettings};
use crate::load::distribute;
use crate::load::schedule::{Filling, Job, Schedule};
use crate::load::ways::{Way, scheduled};
use crate::state::logbook::{Found, KeptTable, Logbook};

/// What decides how tables are filled, beside the tables and the number of connections.
#[derive(Clone)]
pub(crate) struct Conditions {
    /// Abilities of the server.
    pub(crate) caps: Capabilities,
    /// Settings of the server.
    pub(crate) server: ServerSettings,
    /// Warehouses, or the scale factor.
    pub(crate) scale: u64,
    /// Whether rows are committed part by part, so that the next load can resume this one.
    pub(crate) resumable: bool,
}

impl Conditions {
    /// Returns how many of so many loaders can be busy at a time.
    pub(crate) fn useful_loaders(&self, tables: &[Table], loaders: usize) -> usize {
        loaders.min(self.scheduled(tables, self.jobs(tables), loaders).0.useful_loaders())
    }

    /// Returns how the largest table is filled, and why, in one line; `None` if one connection is all there is.
    pub(crate) fn way_of_largest(&self, tables: &[Table], loaders: usize) -> Option<String> {
        let jobs = self.jobs(tables);
        let (n, largest) = jobs.iter().enumerate().max_by_key(|(_, job)| job.bytes)?;
        if loaders < 2 || largest.chunks < 2 {
            return None;
        }
        let largest = largest.clone();
        let way = *self.scheduled(tables, jobs, loaders).1.get(n)?;
        Some(format!("{}: {}", tables[n].name, sentence(&way, &largest, loaders, self.server)))
    }

    fn scheduled(&self, tables: &[Table], jobs: Vec<Job>, loaders: usize) -> (Schedule, Vec<Way>) {
        let costs = Costs::new(self.server, tables.iter().map(|table| table.bytes).sum());
        scheduled(jobs, loaders, &costs)
    }

    fn jobs(&self, tables: &[Table]) -> Vec<Job> {
        tables.iter().map(|table| self.job(table)).collect()
    }

    fn job(&self, table: &Table) -> Job {
        let chunks = table.source.as_ref().map_or(0, |source| source.chunks());
        let known = table.partitions.known().iter();
        let spread = distribute::is_spread(&self.caps, table);
        let unit = self.resumable.then(|| unit(chunks, self.scale));
        // Where the rows outgrow memory or the WAL between two checkpoints before the last of them is there.
        let vacuumed = self.server.vacuumed_bytes();
        let is_vacuumed_behind = unit.is_some() && !spread && table.bytes / 2 > vacuumed;
        Job {
            bytes: table.bytes,
            chunks,
            vacuumed_chunks: is_vacuumed_behind
                .then(|| (u128::from(chunks) * u128::from(vacuumed)).div_ceil(u128::from(table.bytes)) as u64),
            indexes: index_statements(table).into_iter().map(|statement| statement.beside).collect(),
            unit,
            // A part that is committed together is smaller than a partition then.
            routed: table.partitions == Partitions::Routed || (self.resumable && table.partitions != Partitions::None),
            partitions: match self.resumable {
                true => Vec::new(),
                false => known.map(|partition| partition.chunks.clone()).collect(),
            },
            spread,
            ..Job::default()
        }
    }
}

/// How all tables are filled.
pub(crate) struct FillPlan {
    /// What decides it.
    pub(crate) conditions: Conditions,
    /// The comment that marks tables of pgdyno, as a literal.
    pub(crate) mark: String,
    /// Whether COPY FREEZE marks pages all-visible, so that no VACUUM is needed (PostgreSQL 14).
    pub(crate) freeze_suffices: bool,
    /// Whether tables are created unlogged.
    pub(crate) unlogged: bool,
    /// The logbook, if the next load can resume this one.
    pub(crate) logbook: Option<Logbook>,
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
            let planned = self.conditions.job(table);
            Job {
                unlogged: kept.map_or(self.unlogged, |kept| kept.unlogged),
                kept: kept.map(|kept| kept.done.clone()),
                // Rows of an unlogged table are written once more before they are frozen.
                vacuumed_chunks: planned.vacuumed_chunks.filter(|_| !self.unlogged),
                ..planned
            }
        };
        self.conditions.scheduled(tables, tables.iter().map(job).collect(), loaders).0
    }
}

/// Returns the way in words. With the name of a table they fit into a line of a terminal: a pipe gets them unwrapped.
fn sentence(way: &Way, job: &Job, loaders: usize, server: ServerSettings) -> String {
    let wal = if server.has_wal { "" } else { ", no WAL" };
    match (way.filling, way.shared_by_whole) {
        (Filling::Partitions, _) => format!("COPY FREEZE into its partitions side by side{wal}"),
        (Filling::Shared, _) if job.unit.is_some() && job.vacuumed_chunks.is_some() => {
            format!("{loaders} connections commit parts, VACUUM freezes them meanwhile")
        }
        (Filling::Shared, None) if job.unit.is_some() => {
            format!("{loaders} connections commit parts, then VACUUM freezes them")
        }
        (Filling::Shared, Some(ratio)) => {
            format!("{loaders} connections copy, then VACUUM: {ratio:.2} of the time of one COPY")
        }
        (Filling::Shared, None) => format!("{loaders} connections copy, then VACUUM freezes the rows"),
        (Filling::Whole, Some(ratio)) => {
            format!("one COPY FREEZE{wal} ({loaders} COPYs, VACUUM: {ratio:.2} of the time)")
        }
        (Filling::Whole, None) => format!("one COPY FREEZE{wal}"),
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

    #[test]
    fn every_way_of_a_table_is_one_line_of_a_terminal() {
        let jobs = [
            Job::default(),
            Job { unit: Some(1), ..Job::default() },
            Job { unit: Some(1), vacuumed_chunks: Some(1), ..Job::default() },
        ];
        let mut sentences = std::collections::BTreeSet::new();
        for has_wal in [true, false] {
            let server = ServerSettings { has_wal, ..ServerSettings::of_private() };
            for filling in [Filling::Whole, Filling::Shared, Filling::Partitions] {
                for shared_by_whole in [None, Some(1.125)] {
                    let way = Way { filling, shared_by_whole };
                    sentences.extend(jobs.iter().map(|job| sentence(&way, job, 64, server)));
                }
            }
        }
        assert_eq!(sentences.len(), 10, "{sentences:?}");
        for sentence in sentences {
            let line = format!("pgbench_accounts: {sentence}");
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
