//! Parses arguments as pgbench 18 does: the same options, abbreviations, limits and errors, and the same error first if
//! there are several.
//!
//! Options that pgbench 18 does not have, and that make none of its abbreviations ambiguous: `--continue-on-error` (of
//! 19), `--init-jobs`, `--latency-percentiles`, `--warmup-time`, `--reconnect`, `--json`, `--csv`, `--log-merge`.
//!
//! Intended differences: the text of `--help` and of `--version`; `nan` and hexadecimal numbers, which pgbench accepts
//! for a latency limit or a rate, are refused.

mod check;
mod collect;
mod getopt;
mod given;
mod help;
mod scripts;
mod table;
#[cfg(test)]
mod tests;
mod values;

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

pub use pgdyno_workloads::pgbench::partitions::{PartitionMethod, Partitioning};

use pgdyno_net::Env;
use pgdyno_wire::QueryMode;

pub(crate) use help::AS_POSTGRESQL;
pub use help::{help, version};
pub use scripts::{BuiltinChoice, ScriptChoice, ScriptReader, ScriptSource, listing, shown};

use crate::messages::{ExitReason, Io};

/// What parsing the options uses in addition to the arguments.
pub struct Surroundings<'a> {
    /// `PGBENCH_RANDOM_SEED`, `PGDATABASE`, `PGUSER`, `POSIXLY_CORRECT` and the name of the user.
    pub env: &'a Env,
    /// The seed if it comes from the time.
    pub time_seed: u64,
    /// Returns the seed if it is a strong random number.
    pub strong_seed: &'a dyn Fn() -> io::Result<u64>,
    /// The hard limit of open files; `None` means no limit. Clients and three more files must fit.
    pub max_open_files: Option<u64>,
}

/// The parsed command.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// Print [`help`] to standard output.
    Help,
    /// Print [`version`] to standard output.
    Version,
    /// Print [`listing`] to standard error.
    ListBuiltins,
    /// Print [`shown`] to standard error.
    ShowScript(BuiltinChoice),
    /// `-i`.
    Init(Box<InitOptions>),
    /// Anything else.
    Run(Box<RunOptions>),
}

/// Where to connect, as given; see [`crate::connect::options`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionTarget {
    /// `-d`, the operand, `PGDATABASE`, `PGUSER`, or the name of the user: a name, a connection string or a URI.
    pub dbname: String,
    /// `-h`.
    pub host: Option<String>,
    /// `-p`.
    pub port: Option<String>,
    /// `-U`.
    pub user: Option<String>,
}

/// A step of the initialization: a letter of `-I`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitStep {
    /// `d`
    DropTables,
    /// `t`
    CreateTables,
    /// `g`
    GenerateHere,
    /// `G`
    GenerateOnServer,
    /// `v`
    Vacuum,
    /// `p`
    PrimaryKeys,
    /// `f`
    ForeignKeys,
}

/// The options of an initialization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitOptions {
    /// Where to connect.
    pub target: ConnectionTarget,
    /// `--debug`.
    pub debug: bool,
    /// The steps of `-I`, changed by `-n` and `--foreign-keys`.
    pub steps: Vec<InitStep>,
    /// `-s`, from 1.
    pub scale: u32,
    /// `-F`, 10 to 100.
    pub fillfactor: u32,
    /// `-q`.
    pub quiet: bool,
    /// `--tablespace`.
    pub tablespace: Option<String>,
    /// `--index-tablespace`.
    pub index_tablespace: Option<String>,
    /// `None` means one ordinary table.
    pub partitioning: Option<Partitioning>,
    /// `--unlogged-tables`.
    pub unlogged: bool,
    /// `--init-jobs`: connections that load, from 1.
    pub jobs: u32,
}

/// When the benchmark ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchmarkEnd {
    /// `-t`: transactions of each client.
    Transactions(u32),
    /// `-T`.
    Seconds(u32),
}

/// `-l` and the options for it.
#[derive(Clone, Debug, PartialEq)]
pub struct LogOptions {
    /// `--log-prefix`.
    pub prefix: OsString,
    /// `--sampling-rate`, above 0 and at most 1; `None` logs all.
    pub sampling_rate: Option<f64>,
    /// `--aggregate-interval`.
    pub aggregate_interval_s: Option<u32>,
    /// `--log-merge`.
    pub merge: bool,
}

/// The options of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Where to connect.
    pub target: ConnectionTarget,
    /// `--debug`.
    pub debug: bool,
    /// At least one; not all weights are 0.
    pub scripts: Vec<ScriptChoice>,
    /// `-c`, from 1.
    pub clients: u32,
    /// `-j`, from 1; not more than clients.
    pub threads: u32,
    /// `-C`.
    pub connect_per_transaction: bool,
    /// `-D`: the last value of each name, in the order in which the names first occurred.
    pub definitions: Vec<(String, Vec<u8>)>,
    /// `-M`.
    pub protocol: QueryMode,
    /// Whether the small tables are vacuumed first: no `-n`.
    pub vacuum: bool,
    /// Whether accounts are vacuumed, too: `-v`.
    pub vacuum_all: bool,
    /// `-t` or `-T`.
    pub limit: BenchmarkEnd,
    /// `-R`, transactions per second, above 0.
    pub rate_tps: Option<f64>,
    /// `-L`. Negative if the limit is infinite; never 0.
    pub latency_limit_us: Option<i64>,
    /// `-P`.
    pub progress_s: Option<u32>,
    /// `--progress-timestamp`.
    pub progress_timestamp: bool,
    /// `-r`.
    pub report_per_command: bool,
    /// `-s`, if given.
    pub scale: Option<u32>,
    /// `-l`.
    pub log: Option<LogOptions>,
    /// `--max-tries`; `None` means no limit.
    pub max_tries: Option<u32>,
    /// `--failures-detailed`.
    pub failures_detailed: bool,
    /// `--verbose-errors`.
    pub verbose_errors: bool,
    /// `--exit-on-abort`.
    pub exit_on_abort: bool,
    /// `--continue-on-error`.
    pub continue_on_error: bool,
    /// From `--random-seed`, `PGBENCH_RANDOM_SEED`, or the time.
    pub random_seed: u64,
    /// `--latency-percentiles`: above 0 and at most 100, in the given order.
    pub latency_percentiles: Option<Vec<f64>>,
    /// `--warmup-time`, from 0.
    pub warmup_s: Option<f64>,
    /// `--reconnect`: how many seconds a lost connection is tried again.
    pub reconnect_s: Option<f64>,
    /// `--json`.
    pub json: Option<OsString>,
    /// `--csv`.
    pub csv: Option<OsString>,
}

impl RunOptions {
    /// Returns true if any script is built in: then the scale is the number of branches in the database.
    #[must_use]
    pub fn uses_builtin(&self) -> bool {
        self.scripts.iter().any(|script| matches!(script.source, ScriptSource::Builtin(_)))
    }
}

/// Parses `args`, which start with the program's name. Prints the random seed to `io`, as pgbench does if a seed was
/// requested.
///
/// # Errors
/// pgbench's error, not printed yet.
pub fn parse(
    args: &[OsString],
    surroundings: &Surroundings<'_>,
    scripts: &mut dyn ScriptReader,
    io: &mut Io<'_>,
) -> Result<Parsed, ExitReason> {
    match args.get(1).and_then(|first| first.to_str()) {
        Some("--help" | "-?") => return Ok(Parsed::Help),
        Some("--version" | "-V") => return Ok(Parsed::Version),
        _ => {}
    }
    let args: Vec<Vec<u8>> = args.iter().map(|arg| arg.as_bytes().to_vec()).collect();
    match collect::collect(&args, surroundings, scripts, io)? {
        collect::Collected::Early(parsed) => Ok(parsed),
        collect::Collected::Given(given) => check::check(*given, surroundings, scripts, io.program()),
    }
}
