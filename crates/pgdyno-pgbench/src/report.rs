//! The report at the end of a run, as pgbench of PostgreSQL 18 prints it.
//!
//! [`RunReport`] is plain data; its `Display` is the text. Values that pgbench does not have (`--latency-percentiles`,
//! `--warmup-time`, `--reconnect`) are printed only if they were requested.

mod number;
mod percentiles;
mod scripts;
mod text;

pub(crate) use number::fixed;
pub use percentiles::{LatencyPercentiles, Quantiles, ScriptQuantiles};

use pgdyno_wire::QueryMode;

use crate::stats::{Accounting, CommandStats, Stats};

/// Returns the first line on stdout, with its line end: `pgbench (18.6 (pgdyno 0.1.0), server 15.18)`.
///
/// `program` is the program's name, `server_version` the version as the server reports it.
#[must_use]
pub fn banner(program: &str, version: &str, server_version: &str) -> String {
    format!("{program} ({version}, server {server_version})\n")
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Which figures it has.
    pub accounting: Accounting,
    /// The scaling factor.
    pub scale: u64,
    /// How `pgbench_accounts` is partitioned, if it is.
    pub partitions: Option<(AccountsPartitioning, u64)>,
    /// `--protocol`.
    pub query_mode: QueryMode,
    /// `--client`.
    pub clients: u32,
    /// `--jobs`, the actual number.
    pub threads: u32,
    /// `--transactions` or `--time`.
    pub length: RunLength,
    /// `--progress` was given: latencies were measured.
    pub progress: bool,
    /// `--connect`: a connection for each transaction.
    pub connect: bool,
    /// `--report-per-command`.
    pub per_command: bool,
    /// From the time when all clients were connected to the end of the last client.
    pub duration_us: u64,
    /// With `connect` the total time that all clients spent connecting and disconnecting; otherwise the time from the
    /// start of the program until all were connected.
    pub connection_us: u64,
    /// All transactions.
    pub total: Stats,
    /// The scripts in order: at least one.
    pub scripts: Vec<ScriptReport>,
    /// `--warmup-time`.
    pub warmup: Option<Warmup>,
    /// `--reconnect`.
    pub reconnects: Option<Reconnects>,
    /// `--latency-percentiles`.
    pub percentiles: Option<LatencyPercentiles>,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunLength {
    /// After so many transactions of each client (`--transactions`).
    Transactions(u32),
    /// After so many seconds (`--time`).
    Seconds(u32),
}

/// How `pgbench_accounts` is partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountsPartitioning {
    /// By ranges of `aid`.
    Range,
    /// By the hash of `aid`.
    Hash,
}

impl AccountsPartitioning {
    /// Returns pgbench's word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::Hash => "hash",
        }
    }
}

/// The figures of one script.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptReport {
    /// `<builtin: select only>`, or the file's name.
    pub name: String,
    /// Its weight; the sum of all scripts is not 0.
    pub weight: u64,
    /// Its transactions. Printed only if there are several scripts.
    pub stats: Stats,
    /// Its commands in order. Printed only with `per_command`.
    pub commands: Vec<CommandStats>,
}

/// The warm-up, which is not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warmup {
    /// Its planned length.
    pub seconds: f64,
    /// Transactions that ended in it.
    pub transactions: u64,
}

/// Lost connections that were opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconnects {
    /// How many were lost.
    pub lost: u64,
    /// The longest time that a client had no connection; 0 if none was lost.
    pub longest_outage_us: u64,
}
