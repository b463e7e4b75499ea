//! How long the tasks of a load take. Pure.
//!
//! Times are relative: 1 is the time in which one connection copies a byte of a table, its share of the indexes included,
//! with COPY FREEZE and with WAL. The shares were measured by `benches/load.py ways` on PostgreSQL 15 and 18 with two CPUs;
//! what more than two connections cost each other is assumed.

use pgdyno_net::{Admin, AdminError};

/// Share of COPY FREEZE where no WAL is written for its rows (`wal_level=minimal`).
const WITHOUT_WAL: f64 = 0.87;
/// What each further connection that copies into the same table adds to the time of all: extending the table and
/// writing WAL are done by one at a time.
const CONTENTION: f64 = 0.12;
/// The same since PostgreSQL 16, which extends a table by many pages at once.
const CONTENTION_SINCE_16: f64 = 0.04;
/// VACUUM (FREEZE) of pages that were logged since the last checkpoint.
pub(crate) const FREEZE: f64 = 0.43;
/// What is added before PostgreSQL 16, where VACUUM has a ring of 32 buffers: it waits until the WAL is on the disk
/// whenever it takes one again, every 256 kB. How long depends on the disk.
const FREEZE_WAITS: f64 = 1.0;
/// COPY's own ring: the rows of a table that fits into it are in memory when VACUUM comes.
const COPY_RING_BYTES: u64 = 16 << 20;
/// What is added for a page that a checkpoint has come after: it goes into the WAL whole once more.
const FREEZE_LOGGED_AGAIN: f64 = 0.3;
/// What is added for a page that is read from the system's cache or the disk.
const FREEZE_READ: f64 = 0.1;
/// SET LOGGED writes the table once more, and its WAL.
const LOG: f64 = 0.8;
/// All indexes of a table together, by one process.
const INDEXES: f64 = 0.75;
/// What a parallel worker adds to the speed of an index.
const INDEX_WORKER: f64 = 0.5;
/// ANALYZE reads a sample: it takes as long for each table of at least this size.
const ANALYZED_BYTES: f64 = 60e6;

/// Settings of a server that decide how long a load takes in one way or another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerSettings {
    /// Major version.
    pub major: u32,
    /// Whether COPY into a new table writes WAL: `wal_level` above `minimal`.
    pub has_wal: bool,
    /// Whether a page that changes first after a checkpoint goes into the WAL whole.
    pub full_page_writes: bool,
    /// `shared_buffers`, in bytes.
    pub shared_buffers_bytes: u64,
    /// WAL between two checkpoints, in bytes.
    pub checkpoint_wal_bytes: u64,
    /// Parallel workers that an index can have.
    pub index_workers: usize,
}

impl ServerSettings {
    /// Returns the settings of a private server of pgdyno on a machine of 16 GB.
    #[must_use]
    pub fn of_private() -> Self {
        Self {
            major: 18,
            has_wal: false,
            full_page_writes: true,
            shared_buffers_bytes: 4 << 30,
            checkpoint_wal_bytes: 4 << 30,
            index_workers: 2,
        }
    }

    /// Returns PostgreSQL's defaults, for a server that does not show its settings.
    #[must_use]
    pub fn unknown(major: u32) -> Self {
        Self {
            major,
            has_wal: true,
            full_page_writes: true,
            shared_buffers_bytes: 128 << 20,
            checkpoint_wal_bytes: 512 << 20,
            index_workers: 0,
        }
    }

    /// Reads the settings of a server.
    ///
    /// # Errors
    /// When the server refuses, or the connection is lost.
    pub fn read(admin: &mut Admin, major: u32) -> Result<Self, AdminError> {
        // A checkpoint begins so early that the WAL written until its end fits, too.
        let rows = admin.query(
            "select coalesce(current_setting('wal_level', true) <> 'minimal', true), \
             coalesce(current_setting('full_page_writes', true)::bool, true), \
             coalesce(pg_size_bytes(current_setting('shared_buffers', true)), 128 << 20), \
             coalesce((pg_size_bytes(current_setting('max_wal_size', true)) \
                 / (1 + current_setting('checkpoint_completion_target', true)::float8))::bigint, 512 << 20), \
             coalesce(least(current_setting('max_parallel_workers', true)::int, \
                 current_setting('max_worker_processes', true)::int), 0)",
        )?;
        let row = rows.rows.into_iter().next().unwrap_or_default();
        let text = |at: usize| row.get(at).and_then(Option::as_deref).unwrap_or_default();
        let number = |at: usize| text(at).parse().unwrap_or_default();
        Ok(Self {
            major,
            has_wal: text(0) == "t",
            full_page_writes: text(1) == "t",
            shared_buffers_bytes: number(2),
            checkpoint_wal_bytes: number(3),
            index_workers: usize::try_from(number(4)).unwrap_or_default(),
        })
    }

    /// Returns the bytes of rows after which those so far are vacuumed beside the COPYs: they are still in memory, and
    /// no checkpoint has come between.
    pub(crate) fn vacuumed_bytes(&self) -> u64 {
        (self.checkpoint_wal_bytes / 2).min(self.shared_buffers_bytes / 4).max(1)
    }
}

/// What the tasks of a load cost on one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    server: ServerSettings,
    /// Bytes of all tables.
    load_bytes: f64,
}

impl Costs {
    pub(crate) fn new(server: ServerSettings, load_bytes: u64) -> Self {
        Self { server, load_bytes: load_bytes as f64 }
    }

    /// Rows of so many bytes, copied by one connection into a table of its own.
    pub(crate) fn whole(&self, bytes: f64) -> f64 {
        bytes * if self.server.has_wal { 1.0 } else { WITHOUT_WAL }
    }

    /// The same, while so many connections copy into the same table.
    pub(crate) fn shared(&self, bytes: f64, connections: usize) -> f64 {
        let contention = if self.server.major >= 16 { CONTENTION_SINCE_16 } else { CONTENTION };
        bytes * (1.0 + contention * connections.saturating_sub(1) as f64)
    }

    /// VACUUM (FREEZE) of rows, while so many bytes of rows were copied since the first of them.
    pub(crate) fn freeze(&self, bytes: f64, copied_since: f64) -> f64 {
        let beyond = |limit: u64| (1.0 - limit as f64 / copied_since.max(1.0)).max(0.0);
        let mut cost = FREEZE + FREEZE_READ * beyond(self.server.shared_buffers_bytes);
        if self.server.full_page_writes {
            cost += FREEZE_LOGGED_AGAIN * beyond(self.server.checkpoint_wal_bytes);
        }
        if self.server.major < 16 {
            cost += FREEZE_WAITS * beyond(COPY_RING_BYTES);
        }
        bytes * cost
    }

    /// VACUUM (FREEZE) of a table when all rows of the load are there.
    pub(crate) fn freeze_last(&self, bytes: f64) -> f64 {
        self.freeze(bytes, self.load_bytes)
    }

    pub(crate) fn log(&self, bytes: f64) -> f64 {
        bytes * LOG
    }

    /// One of so many indexes of a table, with parallel workers.
    pub(crate) fn index(&self, bytes: f64, indexes: usize, workers: usize) -> f64 {
        let workers = workers.min(self.server.index_workers) as f64;
        bytes * INDEXES / indexes.max(1) as f64 / (1.0 + INDEX_WORKER * workers)
    }

    pub(crate) fn analyze(&self, bytes: f64) -> f64 {
        bytes.min(ANALYZED_BYTES)
    }
}

#[cfg(test)]
impl Default for Costs {
    /// Returns the costs on a server with WAL whose memory holds the tables.
    fn default() -> Self {
        Self::new(ServerSettings { has_wal: true, ..ServerSettings::of_private() }, 1 << 30)
    }
}
