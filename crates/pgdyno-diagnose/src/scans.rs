//! Sequential scans of tables that are not small, again and again, and the blocks that they read.

use pgdyno_samples::database;

use crate::facts::Facts;
use crate::statements;
use crate::tables::Table;

/// Tables of fewer rows than this are read whole by a good plan, too.
const ROWS_MIN: f64 = 5_000.0;

/// Scans that read fewer rows than this each end early, as with LIMIT.
const EACH_MIN: f64 = 1_000.0;

/// Fewer scans a second than this could be a report or a check.
const SCANS_MIN: f64 = 1.0;

/// A query of a stream reads a table as a whole so many times at most, and each of its parallel workers counts.
const SCANS_OF_QUERY: f64 = 12.0;

/// Scans that return more of the rows that they read than this are how these rows are best read.
const RETURNED_MAX: f64 = 0.5;

/// Scans that read more of the blocks from outside shared buffers than this are why blocks come from there.
pub(crate) const MOST: f64 = 0.5;

/// The server's number of rows may be so many times too large: rows that were inserted shortly before ANALYZE count twice.
const LIVE_OFF: f64 = 2.0;

/// The size of a block. A server that was built with another has so many more or less.
const BLOCK: f64 = 8192.0;

/// Returns the tables that are not small and are scanned again and again.
fn scanned(facts: &Facts<'_>) -> impl Iterator<Item = Table> {
    // Queries of streams are meant to do so.
    let of_streams = facts.streams.map_or(0.0, |streams| SCANS_OF_QUERY * (streams.completed() + streams.number()));
    Table::at_end(facts)
        .into_iter()
        .filter(|table| table.live >= ROWS_MIN && table.seconds > 0.0 && table.seq_scans / table.seconds >= SCANS_MIN)
        .filter(move |table| table.seq_scans > of_streams && table.rows_scanned >= EACH_MIN * table.seq_scans)
        .filter(|table| statements::rows_of(facts, &table.name) <= RETURNED_MAX * table.rows_scanned)
}

/// Returns the one of them of which most rows were read.
pub(crate) fn worst(facts: &Facts<'_>) -> Option<Table> {
    scanned(facts).max_by(|a, b| a.rows_scanned.total_cmp(&b.rows_scanned))
}

/// Returns the blocks a second that scans read of a table from outside shared buffers: those of the table, but no more than the scans
/// may have visited.
pub(crate) fn blocks_read(table: &Table) -> Option<f64> {
    let visited = LIVE_OFF * table.rows_scanned / table.live * table.heap_bytes? / BLOCK;
    Some(table.blocks_read?.min(visited) / table.seconds)
}

/// Returns the share of all blocks from outside shared buffers that scans read of a table.
pub(crate) fn share_of_table(facts: &Facts<'_>, table: &Table) -> Option<f64> {
    // Sessions report their counts up to a second later: both are of the same time.
    let all = facts.rate_between(database::BLKS_READ, table.since_s, table.since_s + table.seconds)?;
    Some((blocks_read(table)? / all).min(1.0)).filter(|_| all > 0.0)
}

/// Returns the share of all blocks from outside shared buffers that scans read.
pub(crate) fn share_of_reads(facts: &Facts<'_>) -> Option<f64> {
    let shares: Vec<f64> = scanned(facts).filter_map(|table| share_of_table(facts, &table)).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>().min(1.0))
}
