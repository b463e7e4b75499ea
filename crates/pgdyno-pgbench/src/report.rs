//! What is printed at the end of a run, as PostgreSQL 18's pgbench prints it.
//!
//! [`RunReport`] is plain data; its `Display` is the text. What pgbench does not have (`--latency-percentiles`,
//! `--warmup-time`, `--reconnect`) is printed only when it was asked for.

mod number;
mod percentiles;
mod scripts;
mod text;

pub(crate) use number::fixed;
pub use percentiles::{LatencyPercentiles, Quantiles, ScriptQuantiles};

use pgdyno_wire::QueryMode;

use crate::stats::{Accounting, CommandStats, Stats};

/// The first line on stdout, with its end of line: `pgbench (18.6 (pgdyno 0.1.0), server 15.18)`.
///
/// `program` is the name that the program was called by, `server_version` the server's own word.
#[must_use]
pub fn banner(program: &str, version: &str, server_version: &str) -> String {
    format!("{program} ({version}, server {server_version})\n")
}

/// A run that ended.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Which figures there are.
    pub accounting: Accounting,
    /// The scaling factor.
    pub scale: u64,
    /// How `pgbench_accounts` is partitioned, if it is.
    pub partitions: Option<(PartitionMethod, u64)>,
    /// `--protocol`.
    pub query_mode: QueryMode,
    /// `--client`.
    pub clients: u32,
    /// `--jobs`, as many as there were.
    pub threads: u32,
    /// `--transactions` or `--time`.
    pub length: RunLength,
    /// `--progress` was given: latencies were measured.
    pub progress: bool,
    /// `--connect`: a connection for each transaction.
    pub connect: bool,
    /// `--report-per-command`.
    pub per_command: bool,
    /// From the moment when all were connected to the end of the last client.
    pub duration_us: u64,
    /// With `connect` the time that all clients together spent connecting and disconnecting; else the time from the
    /// start of the program until all were connected.
    pub connection_us: u64,
    /// All transactions.
    pub total: Stats,
    /// The scripts in their order: one or more.
    pub scripts: Vec<ScriptReport>,
    /// `--warmup-time`.
    pub warmup: Option<Warmup>,
    /// `--reconnect`.
    pub reconnects: Option<Reconnects>,
    /// `--latency-percentiles`.
    pub percentiles: Option<LatencyPercentiles>,
}

/// When a run was to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunLength {
    /// After so many transactions of each client (`--transactions`).
    Transactions(u32),
    /// After so many seconds (`--time`).
    Seconds(u32),
}

/// How `pgbench_accounts` is partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionMethod {
    /// By ranges of `aid`.
    Range,
    /// By the hash of `aid`.
    Hash,
}

impl PartitionMethod {
    /// pgbench's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::Hash => "hash",
        }
    }
}

/// One script's part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptReport {
    /// `<builtin: select only>`, or the file's name.
    pub name: String,
    /// Its weight; that of all scripts together is not 0.
    pub weight: u64,
    /// Its transactions. Printed only where there are several scripts.
    pub stats: Stats,
    /// Its commands in their order. Printed only with `per_command`.
    pub commands: Vec<CommandStats>,
}

/// What was not counted, as it came before the measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warmup {
    /// How long it was to be.
    pub seconds: f64,
    /// Transactions that ended in it.
    pub transactions: u64,
}

/// Connections that were lost and made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconnects {
    /// How many were lost.
    pub lost: u64,
    /// The longest time that a client had none; 0 when no connection was lost.
    pub longest_outage_us: u64,
}
