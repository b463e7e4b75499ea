//! Arguments to plain data, as pgbench 18 reads them: the same options, abbreviations, limits, complaints, and
//! the same complaint first where several things are wrong.
//!
//! What pgbench 18 has not, and that no abbreviation of pgbench's becomes ambiguous by: `--continue-on-error`
//! (of 19), `--init-jobs`, `--latency-percentiles`, `--warmup-time`, `--reconnect`, `--json`, `--csv`,
//! `--log-merge`.
//!
//! Intended differences: the text of `--help` and of `--version`; `nan` and hexadecimal numbers, which pgbench
//! takes for a latency limit or a rate, are refused.

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
pub use scripts::{Builtin, ScriptChoice, ScriptSource, Scripts, listing, shown};

use crate::messages::{Failure, Io};

/// What reading the options may look at beside the arguments.
pub struct Surroundings<'a> {
    /// `PGBENCH_RANDOM_SEED`, `PGDATABASE`, `PGUSER`, `POSIXLY_CORRECT` and the name of the user.
    pub env: &'a Env,
    /// The seed where the time is to give it.
    pub time_seed: u64,
    /// The seed where it is to be a strong random number.
    pub strong_seed: &'a dyn Fn() -> io::Result<u64>,
    /// The hard limit of open files; `None` is no limit. Clients and three more must fit.
    pub max_open_files: Option<u64>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// Print [`help`] to standard output.
    Help,
    /// Print [`version`] to standard output.
    Version,
    /// Print [`listing`] to standard error.
    ListBuiltins,
    /// Print [`shown`] to standard error.
    ShowScript(Builtin),
    /// `-i`.
    Init(Box<InitOptions>),
    /// Anything else.
    Run(Box<RunOptions>),
}

/// Where to connect, as given; see [`crate::connect::options`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
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
pub enum Step {
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

/// What `-i` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitOptions {
    /// Where.
    pub target: Target,
    /// `--debug`.
    pub debug: bool,
    /// `-I` with what `-n` and `--foreign-keys` make of it.
    pub steps: Vec<Step>,
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
    /// `None` is one ordinary table.
    pub partitioning: Option<Partitioning>,
    /// `--unlogged-tables`.
    pub unlogged: bool,
    /// `--init-jobs`: connections that load, from 1.
    pub jobs: u32,
}

/// How long the benchmark lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `-t`: transactions of each client.
    Transactions(u32),
    /// `-T`.
    Seconds(u32),
}

/// `-l` and what belongs to it.
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

/// What a benchmark is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Where.
    pub target: Target,
    /// `--debug`.
    pub debug: bool,
    /// At least one; their weights are not all 0.
    pub scripts: Vec<ScriptChoice>,
    /// `-c`, from 1.
    pub clients: u32,
    /// `-j`, from 1; not more than clients.
    pub threads: u32,
    /// `-C`.
    pub connect_per_transaction: bool,
    /// `-D`: the last value of each name, in the order in which names came first.
    pub definitions: Vec<(String, Vec<u8>)>,
    /// `-M`.
    pub protocol: QueryMode,
    /// Whether tables are vacuumed first: no `-n`.
    pub vacuum: bool,
    /// Whether accounts are too: `-v`.
    pub vacuum_all: bool,
    /// `-t` or `-T`.
    pub limit: Limit,
    /// `-R`, transactions per second, above 0.
    pub rate_tps: Option<f64>,
    /// `-L`. Negative where the limit was beyond all numbers; never 0.
    pub latency_limit_us: Option<i64>,
    /// `-P`.
    pub progress_s: Option<u32>,
    /// `--progress-timestamp`.
    pub progress_timestamp: bool,
    /// `-r`.
    pub report_per_command: bool,
    /// `-s`, where given.
    pub scale: Option<u32>,
    /// `-l`.
    pub log: Option<LogOptions>,
    /// `--max-tries`; `None` is without limit.
    pub max_tries: Option<u32>,
    /// `--failures-detailed`.
    pub failures_detailed: bool,
    /// `--verbose-errors`.
    pub verbose_errors: bool,
    /// `--exit-on-abort`.
    pub exit_on_abort: bool,
    /// `--continue-on-error`.
    pub continue_on_error: bool,
    /// `--random-seed`, `PGBENCH_RANDOM_SEED`, or of the time.
    pub random_seed: u64,
    /// `--latency-percentiles`: above 0 and at most 100, as they were listed.
    pub latency_percentiles: Option<Vec<f64>>,
    /// `--warmup-time`, from 0.
    pub warmup_s: Option<f64>,
    /// `--reconnect`: for so many seconds a lost connection is tried again.
    pub reconnect_s: Option<f64>,
    /// `--json`.
    pub json: Option<OsString>,
    /// `--csv`.
    pub csv: Option<OsString>,
}

impl RunOptions {
    /// Whether any script is built in: then the scale is the number of branches in the database.
    #[must_use]
    pub fn uses_builtin(&self) -> bool {
        self.scripts.iter().any(|script| matches!(script.source, ScriptSource::Builtin(_)))
    }
}

/// Reads `args`, which begin with the name that the program was called by. The random seed is told to `io`, as
/// pgbench does where it was asked for one.
///
/// # Errors
/// With pgbench's complaint; nothing of it is printed yet.
pub fn parse(
    args: &[OsString],
    surroundings: &Surroundings<'_>,
    scripts: &mut dyn Scripts,
    io: &mut Io<'_>,
) -> Result<Parsed, Failure> {
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
