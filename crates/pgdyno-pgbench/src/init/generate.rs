//! Loads rows over one connection, in one transaction.

use std::ops::Range;
use std::time::Instant;

use pgdyno_workload::CopyBuf;
use pgdyno_workloads::pgbench::rows::{write_accounts, write_branches, write_tellers};
use pgdyno_workloads::pgbench::{ACCOUNTS, BRANCHES, TELLERS};

use super::progress::InitProgress;
use super::{Run, Teller, sql};
use crate::messages::{ExitReason, Io};

/// A table to fill: its name, its rows per unit of scale, and their source.
pub(super) struct Source {
    pub(super) table: &'static str,
    pub(super) rows_per_scale: u64,
    pub(super) write: fn(Range<u64>, &mut CopyBuf),
}

pub(super) const BRANCHES_ROWS: Source =
    Source { table: "pgbench_branches", rows_per_scale: BRANCHES, write: write_branches };
pub(super) const TELLERS_ROWS: Source =
    Source { table: "pgbench_tellers", rows_per_scale: TELLERS, write: write_tellers };
pub(super) const ACCOUNTS_ROWS: Source =
    Source { table: "pgbench_accounts", rows_per_scale: ACCOUNTS, write: write_accounts };

impl Run<'_> {
    pub(super) fn generate_here(&mut self, io: &mut Io<'_>) -> Result<(), ExitReason> {
        self.session.execute("begin", io)?;
        self.session.execute(sql::TRUNCATE, io)?;
        for source in [BRANCHES_ROWS, TELLERS_ROWS, ACCOUNTS_ROWS] {
            self.fill(&source, io)?;
        }
        self.session.execute("commit", io)
    }

    /// Fills a table that was truncated in the same transaction.
    pub(super) fn fill(&mut self, source: &Source, io: &mut Io<'_>) -> Result<(), ExitReason> {
        let total = source.rows_per_scale * u64::from(self.options.scale);
        let copy = sql::copy(source.table, self.session.can_freeze(source.table)?);
        let mut shown = Shown::new(source.table, total, self.options.quiet, io);
        self.session.copy(&copy, 0..total, source.write, &mut shown)
    }

    pub(super) fn generate_on_server(&mut self, io: &mut Io<'_>) -> Result<(), ExitReason> {
        self.session.execute("begin", io)?;
        self.session.execute(sql::TRUNCATE, io)?;
        self.execute_all(&sql::generate(self.options.scale), io)?;
        self.session.execute("commit", io)
    }
}

/// Counts rows that are sent, and shows their progress.
pub(super) struct Shown<'i, 'w> {
    io: &'i mut Io<'w>,
    progress: InitProgress,
    rows: u64,
    start: Instant,
}

impl<'i, 'w> Shown<'i, 'w> {
    pub(super) fn new(table: &'static str, total: u64, quiet: bool, io: &'i mut Io<'w>) -> Self {
        let progress = InitProgress::new(table, total, quiet, io.err_is_terminal);
        Self { io, progress, rows: 0, start: Instant::now() }
    }
}

impl Teller for Shown<'_, '_> {
    fn say(&mut self, text: &str) {
        self.io.raw(text);
    }

    fn sent(&mut self, rows: u64) {
        self.rows += rows;
        if let Some(line) = self.progress.rows(self.rows, self.start.elapsed()) {
            self.io.raw(&line);
        }
    }

    fn all_sent(&mut self) {
        if let Some(blanks) = self.progress.end() {
            self.io.raw(&blanks);
        }
    }
}
