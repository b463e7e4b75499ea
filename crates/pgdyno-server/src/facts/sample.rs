//! The server's own counters, before and after, and their difference.

use pgdyno_net::{Admin, AdminError};
use pgdyno_samples::{SampleColumn, database, wal};

use crate::facts::ask::ask;
use crate::facts::reads::DiskReads;
use crate::stat::source::{Row, select};
use crate::stat::{MARK, database as source};

/// A row of the source `database`, queried as the sampler does, and the WAL position.
///
/// Sessions report their counters at most once a second, and when they end; an idle one may take longer (PostgreSQL
/// documentation, "Viewing Statistics"). So the last sample of a run is taken after its clients have disconnected. A
/// sample counts as up to two transactions itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    row: Row,
    /// Bytes of WAL since initdb; on a standby, those replayed.
    wal_position: Option<u64>,
    /// Size of a block in bytes.
    block_bytes: u64,
}

/// Counters of `pg_stat_database`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Committed transactions.
    pub xact_commit: u64,
    /// Rolled-back transactions.
    pub xact_rollback: u64,
    /// Blocks that were not in shared buffers.
    pub blks_read: u64,
    /// Blocks that were in shared buffers.
    pub blks_hit: u64,
    /// Rows read by scans.
    pub tup_returned: u64,
    /// Rows fetched by index scans.
    pub tup_fetched: u64,
    /// Rows inserted.
    pub tup_inserted: u64,
    /// Rows updated.
    pub tup_updated: u64,
    /// Rows deleted.
    pub tup_deleted: u64,
    /// Bytes of temporary files.
    pub temp_bytes: u64,
    /// Deadlocks.
    pub deadlocks: u64,
}

/// The server's work between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerWork {
    /// Differences of the counters.
    pub counters: Counters,
    /// Bytes of WAL written.
    pub wal_bytes: Option<u64>,
    /// Size of a block in bytes.
    pub block_bytes: u64,
}

impl ServerWork {
    /// Returns transactions as HammerDB counts them for its TPM: committed and rolled back.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.counters.xact_commit + self.counters.xact_rollback
    }

    /// Returns the work without so many transactions of this program.
    #[must_use]
    pub fn without(mut self, own: u64) -> Self {
        self.counters.xact_commit = self.counters.xact_commit.saturating_sub(own);
        self
    }

    /// Returns the share of blocks found in shared buffers, 0 to 1; `None` if none was requested.
    #[must_use]
    pub fn hit_ratio(&self) -> Option<f64> {
        let all = self.counters.blks_hit + self.counters.blks_read;
        (all > 0).then(|| self.counters.blks_hit as f64 / all as f64)
    }

    /// Returns the share of other blocks that came without a disk, 0 to 1, if the server's processes read this much
    /// from disks meanwhile; `None` if all were in shared buffers. Reads of other files and the kernel's read-ahead
    /// make it smaller than it is, never larger.
    #[must_use]
    pub fn os_hit_ratio(&self, reads: &DiskReads) -> Option<f64> {
        let missed_bytes = self.counters.blks_read * self.block_bytes;
        (missed_bytes > 0).then(|| (1.0 - reads.bytes() as f64 / missed_bytes as f64).max(0.0))
    }
}

impl Sample {
    /// Takes a sample; `None` if the server does not show its statistics.
    ///
    /// # Errors
    /// Only when the connection is lost.
    pub fn take(admin: &mut Admin) -> Result<Option<Self>, AdminError> {
        let version = admin.parameters().server_version_num().unwrap_or_default();
        // Each statement is a transaction, so no snapshot of the statistics is kept between them.
        let rows = ask(admin, &select(database::SOURCE.columns, version, source::FROM))?;
        let Some(row) = rows.and_then(|rows| rows.rows.into_iter().next()) else {
            return Ok(None);
        };
        let (wal_position, block_bytes) = position(admin, version)?;
        let sample = Self { row, wal_position, block_bytes };
        Ok(sample.count(database::XACT_COMMIT).is_some().then_some(sample))
    }

    /// Returns one of its counters.
    fn count(&self, column: SampleColumn) -> Option<u64> {
        self.row.get(database::SOURCE.place(column))?.as_ref()?.parse().ok()
    }

    /// Returns the work since an earlier sample; `None` if the counters were reset in between, by hand or by a crash.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<ServerWork> {
        if source::SOURCE.was_reset(std::slice::from_ref(&earlier.row), std::slice::from_ref(&self.row)) {
            return None;
        }
        let grown = |column| self.count(column)?.checked_sub(earlier.count(column)?);
        Some(ServerWork {
            counters: Counters {
                xact_commit: grown(database::XACT_COMMIT)?,
                xact_rollback: grown(database::XACT_ROLLBACK)?,
                blks_read: grown(database::BLKS_READ)?,
                blks_hit: grown(database::BLKS_HIT)?,
                tup_returned: grown(database::TUP_RETURNED)?,
                tup_fetched: grown(database::TUP_FETCHED)?,
                tup_inserted: grown(database::TUP_INSERTED)?,
                tup_updated: grown(database::TUP_UPDATED)?,
                tup_deleted: grown(database::TUP_DELETED)?,
                temp_bytes: grown(database::TEMP_BYTES)?,
                deadlocks: grown(database::DEADLOCKS)?,
            },
            block_bytes: self.block_bytes,
            wal_bytes: self.wal_position.zip(earlier.wal_position).and_then(|(now, then)| now.checked_sub(then)),
        })
    }
}

/// Returns the WAL position, if permitted, and the size of a block.
fn position(admin: &mut Admin, version: u32) -> Result<(Option<u64>, u64), AdminError> {
    let block = "current_setting('block_size')";
    let position = wal::LSN_BYTES.sql(version).unwrap_or("NULL");
    let rows = match ask(admin, &format!("SELECT {MARK} {block}, {position}"))? {
        Some(rows) => Some(rows),
        None => ask(admin, &format!("SELECT {MARK} {block}"))?,
    };
    let mut cells = rows.into_iter().flat_map(|rows| rows.rows).flatten();
    let mut next = || -> Option<u64> { cells.next()??.parse().ok() };
    let block_bytes = next().unwrap_or_default();
    Ok((next(), block_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(commits: u64, wal: u64) -> Sample {
        let row = database::SOURCE
            .columns
            .iter()
            .enumerate()
            .map(|(nth, column)| column.unit().map(|_| (commits + nth as u64).to_string()));
        Sample { row: row.collect(), wal_position: Some(wal), block_bytes: 8192 }
    }

    #[test]
    fn the_difference_is_the_work() {
        let work = sample(150, 5000).since(&sample(100, 1000)).unwrap();
        assert_eq!(work.transactions(), 100);
        assert_eq!(work.wal_bytes, Some(4000));
        assert_eq!(work.hit_ratio(), Some(0.5));
        assert_eq!((work.block_bytes, ServerWork::default().hit_ratio()), (8192, None));
    }

    #[test]
    fn a_counter_is_found_by_its_column() {
        let mut later = sample(100, 0);
        later.row[database::SOURCE.place(database::DEADLOCKS)] = Some("1000".to_owned());
        let work = later.since(&sample(100, 0)).unwrap();
        assert_eq!((work.counters.deadlocks, work.counters.temp_bytes), (1000 - 112, 0));
    }

    #[test]
    fn counters_that_were_reset_have_no_difference() {
        let (earlier, mut later) = (sample(100, 0), sample(50, 0));
        assert_eq!(later.since(&earlier), None);
        later = sample(200, 0);
        later.row[database::SOURCE.place(database::STATS_RESET)] = Some("2026-01-01".to_owned());
        assert_eq!(later.since(&earlier), None);
        let none = database::SOURCE.columns.iter().map(|column| column.is_counter().then(|| "0".to_owned()));
        let fresh = Sample { row: none.collect(), ..Sample::default() };
        assert!(later.since(&fresh).is_some(), "counters that are made are not reset");
    }
}
