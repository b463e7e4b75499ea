//! The server's own counters of its work, read before and after, and the difference.

use pgdyno_net::{Admin, AdminError};
use serde::{Deserialize, Serialize};

use crate::ask::ask;
use crate::reads::DiskReads;

/// Counters of the current database in `pg_stat_database`, and the position in the WAL.
///
/// Sessions report what they did at most once a second, and when they end; one that is idle may wait for
/// longer (PostgreSQL documentation, "Viewing Statistics"). So the last sample of a run is taken after its
/// clients have disconnected. A sample counts as up to two transactions itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Everything counted so far.
    pub totals: Counters,
    /// Bytes of WAL since the server was made; where a standby is asked, those it replayed.
    pub wal_position: Option<u64>,
    /// When the counters were set to 0, as the server writes it.
    pub stats_reset: Option<String>,
    /// Bytes of a block.
    pub block_bytes: u64,
}

/// Counters of `pg_stat_database`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Transactions that were committed.
    pub xact_commit: u64,
    /// Transactions that were rolled back.
    pub xact_rollback: u64,
    /// Blocks that were not in shared buffers.
    pub blks_read: u64,
    /// Blocks that were.
    pub blks_hit: u64,
    /// Rows that were read by scans.
    pub tup_returned: u64,
    /// Rows that were fetched by index scans.
    pub tup_fetched: u64,
    /// Rows that were inserted.
    pub tup_inserted: u64,
    /// Rows that were updated.
    pub tup_updated: u64,
    /// Rows that were deleted.
    pub tup_deleted: u64,
    /// Bytes of temporary files.
    pub temp_bytes: u64,
    /// Deadlocks.
    pub deadlocks: u64,
}

/// What the server did between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The counters' differences.
    pub counters: Counters,
    /// Bytes of WAL that were written.
    pub wal_bytes: Option<u64>,
    /// Bytes of a block.
    pub block_bytes: u64,
}

impl Work {
    /// Transactions as HammerDB counts them for its TPM: committed and rolled back.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.counters.xact_commit + self.counters.xact_rollback
    }

    /// The same without so many transactions of this program's own.
    #[must_use]
    pub fn without(mut self, own: u64) -> Self {
        self.counters.xact_commit = self.counters.xact_commit.saturating_sub(own);
        self
    }

    /// The share of blocks that were found in shared buffers, 0 to 1; `None` if none was asked for.
    #[must_use]
    pub fn hit_ratio(&self) -> Option<f64> {
        let all = self.counters.blks_hit + self.counters.blks_read;
        (all > 0).then(|| self.counters.blks_hit as f64 / all as f64)
    }

    /// The share of what was not found in shared buffers that came without a disk, 0 to 1, where the server's processes
    /// have read this much from disks meanwhile; `None` where everything was found in shared buffers. Reads of other files
    /// and the kernel's read-ahead make it smaller than it is, never larger.
    #[must_use]
    pub fn os_hit_ratio(&self, reads: &DiskReads) -> Option<f64> {
        let missed_bytes = self.counters.blks_read * self.block_bytes;
        (missed_bytes > 0).then(|| (1.0 - reads.bytes() as f64 / missed_bytes as f64).max(0.0))
    }
}

impl Sample {
    /// Takes a sample; `None` where the server does not show its statistics.
    ///
    /// # Errors
    /// Only when the connection is lost.
    pub fn take(admin: &mut Admin) -> Result<Option<Self>, AdminError> {
        // Each statement is a transaction of its own, so no snapshot of the statistics is kept between them.
        let rows = ask(
            admin,
            "SELECT /* pgdyno sampler */ xact_commit, xact_rollback, blks_read, blks_hit, tup_returned, tup_fetched, \
             tup_inserted, tup_updated, tup_deleted, temp_bytes, deadlocks, stats_reset::text, \
             current_setting('block_size') \
             FROM pg_stat_database WHERE datname = current_database()",
        )?;
        let Some(row) = rows.and_then(|rows| rows.rows.into_iter().next()) else {
            return Ok(None);
        };
        let Some(mut sample) = Self::from_row(&row) else {
            return Ok(None);
        };
        let wal = ask(
            admin,
            "SELECT /* pgdyno sampler */ pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() \
             ELSE pg_current_wal_lsn() END, '0/0')",
        )?;
        sample.wal_position =
            wal.and_then(|rows| rows.rows.into_iter().next()?.into_iter().next()?).and_then(|text| text.parse().ok());
        Ok(Some(sample))
    }

    fn from_row(row: &[Option<String>]) -> Option<Self> {
        let mut values = row.iter();
        let mut next = || -> Option<u64> { values.next()?.as_ref()?.parse().ok() };
        Some(Self {
            totals: Counters {
                xact_commit: next()?,
                xact_rollback: next()?,
                blks_read: next()?,
                blks_hit: next()?,
                tup_returned: next()?,
                tup_fetched: next()?,
                tup_inserted: next()?,
                tup_updated: next()?,
                tup_deleted: next()?,
                temp_bytes: next()?,
                deadlocks: next()?,
            },
            wal_position: None,
            stats_reset: row.get(11).cloned().flatten(),
            block_bytes: row.get(12)?.as_ref()?.parse().ok()?,
        })
    }

    /// What was done since an earlier sample; `None` if the counters were reset in between, by hand or by
    /// a crash.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<Work> {
        if self.stats_reset != earlier.stats_reset {
            return None;
        }
        let (now, then) = (&self.totals, &earlier.totals);
        Some(Work {
            counters: Counters {
                xact_commit: now.xact_commit.checked_sub(then.xact_commit)?,
                xact_rollback: now.xact_rollback.checked_sub(then.xact_rollback)?,
                blks_read: now.blks_read.checked_sub(then.blks_read)?,
                blks_hit: now.blks_hit.checked_sub(then.blks_hit)?,
                tup_returned: now.tup_returned.checked_sub(then.tup_returned)?,
                tup_fetched: now.tup_fetched.checked_sub(then.tup_fetched)?,
                tup_inserted: now.tup_inserted.checked_sub(then.tup_inserted)?,
                tup_updated: now.tup_updated.checked_sub(then.tup_updated)?,
                tup_deleted: now.tup_deleted.checked_sub(then.tup_deleted)?,
                temp_bytes: now.temp_bytes.checked_sub(then.temp_bytes)?,
                deadlocks: now.deadlocks.checked_sub(then.deadlocks)?,
            },
            block_bytes: self.block_bytes,
            wal_bytes: self.wal_position.zip(earlier.wal_position).and_then(|(now, then)| now.checked_sub(then)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(commits: u64, wal: u64) -> Sample {
        let mut row: Vec<Option<String>> = (0..11).map(|n| Some((commits + n).to_string())).collect();
        row.extend([None, Some("8192".to_owned())]);
        let mut sample = Sample::from_row(&row).unwrap();
        sample.wal_position = Some(wal);
        sample
    }

    #[test]
    fn columns_come_in_the_order_of_the_query() {
        let totals = sample(100, 0).totals;
        assert_eq!((totals.xact_commit, totals.blks_read, totals.deadlocks), (100, 102, 110));
    }

    #[test]
    fn the_difference_is_the_work() {
        let work = sample(150, 5000).since(&sample(100, 1000)).unwrap();
        assert_eq!(work.transactions(), 100);
        assert_eq!(work.wal_bytes, Some(4000));
        assert_eq!(work.hit_ratio(), Some(0.5));
        assert_eq!((work.block_bytes, Work::default().hit_ratio()), (8192, None));
    }

    #[test]
    fn counters_that_were_reset_have_no_difference() {
        let (earlier, mut later) = (sample(100, 0), sample(50, 0));
        assert_eq!(later.since(&earlier), None);
        later = sample(200, 0);
        later.stats_reset = Some("2026-01-01".to_owned());
        assert_eq!(later.since(&earlier), None);
    }
}
