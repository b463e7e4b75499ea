//! The command line as clap sees it. These types end here: commands turn them into plans.

mod ab;
mod capture;
mod cloud;
mod compare;
mod doctor;
mod examples;
mod export;
mod fault;
mod fit;
mod format;
mod frontier;
pub(crate) mod help;
pub(crate) mod hints;
mod history;
mod meeting;
mod options;
mod recipe;
mod run;
mod search;
mod serve;
mod store;
mod suite;
mod target;

pub(crate) use ab::AbArgs;
pub(crate) use capture::{CaptureAction, CaptureArgs, TakeArgs};
pub(crate) use cloud::{CloudAction, EngineArgs, LabArgs, LabFileArgs, SweepArgs};
pub(crate) use compare::{CompareArgs, ScalingArgs};
pub(crate) use doctor::DoctorArgs;
pub(crate) use export::{ExportArgs, SelectArgs};
pub(crate) use fault::{FaultAction, FaultListArgs};
pub(crate) use fit::FitArgs;
pub(crate) use format::FormatArgs;
pub(crate) use frontier::FrontierArgs;
pub(crate) use history::HistoryArgs;
pub(crate) use meeting::{AgentArgs, AgentsArgs};
pub(crate) use options::{OfData, OfLoad, OrderArgs, Takes};
pub(crate) use recipe::ShowArgs;
pub(crate) use run::{OutArgs, RunArgs};
pub(crate) use search::SearchArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use store::{PushArgs, ResultsArgs, StoreArgs, StoreCommand};
pub(crate) use suite::{BeginArgs, ExecutionArgs, ResumeArgs, Suite, SuiteArgs};
pub(crate) use target::ConsentArgs;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use pgdyno_plan::RESULTS;
use pgdyno_results::Objective;
use pgdyno_workload::IsolationLevel;

/// Benchmarks PostgreSQL, says what limited it, and whether to believe the number
#[derive(Debug, Parser)]
#[command(name = "pgdyno", version, arg_required_else_help = true, after_help = examples::PROGRAM, after_long_help = examples::RUN, term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a workload: load its data, check it, measure, and report
    #[command(after_help = examples::RUN_COMMON, after_long_help = examples::RUN)]
    Run(RunCommand),
    /// Print every step of `run` with the same arguments; writes nothing
    #[command(after_help = examples::PLAN)]
    Plan(PlanCommand),
    /// Create and load a workload's data
    #[command(after_help = examples::LOAD)]
    Load(LoadArgs),
    /// Check a workload's data
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    /// Drop a workload's data
    #[command(after_help = examples::DROP)]
    Drop(DropArgs),
    /// List workloads, recipes or runs
    #[command(after_help = examples::LIST)]
    List {
        #[command(subcommand)]
        what: List,
    },
    /// Show a workload and its parameters, or a recipe with its published figures
    #[command(after_help = examples::SHOW)]
    Show(ShowArgs),
    /// Make a report from a run's record
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Compare runs, with confidence intervals
    Compare(CompareArgs),
    /// Show a metric over all comparable runs, and where it changed
    History(HistoryArgs),
    /// Show throughput against clients, CPUs or scale
    Scaling(ScalingArgs),
    /// Find which of two settings, servers, builds or scripts is faster
    Ab(AbArgs),
    /// Find the highest load that meets an objective
    #[command(after_help = examples::SEARCH)]
    Search(SearchArgs),
    /// Measure query throughput at each transaction rate, on the same data
    Frontier(FrontierArgs),
    /// Run a matrix of runs from one file
    #[command(after_help = examples::SUITE)]
    Suite {
        #[command(subcommand)]
        action: Suite,
    },
    /// Write runs as one table
    #[command(after_help = examples::EXPORT)]
    Export(ExportArgs),
    /// Show the results in a browser, also of runs in progress
    #[command(after_help = examples::SERVE)]
    Serve(ServeArgs),
    /// Keep the runs of a team in one PostgreSQL database
    #[command(after_help = examples::STORE)]
    Store {
        #[command(subcommand)]
        action: StoreCommand,
    },
    /// Find what would distort a measurement on this machine, and on a server
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// List the faults that a run can cause (`run --fault`), and what each needs
    #[command(after_help = examples::FAULT)]
    Fault {
        #[command(subcommand)]
        action: FaultAction,
    },
    /// Capture the statements that a server executes, from its own counters, into a file; reads only
    #[command(after_help = examples::CAPTURE)]
    Capture(CaptureArgs),
    /// Make a workload from a capture, with values found on a copy of the database
    #[command(after_help = examples::FIT)]
    Fit(FitArgs),
    /// Create servers of several sizes in a cloud, measure each, and destroy them
    #[command(after_help = examples::CLOUD)]
    Cloud {
        #[command(subcommand)]
        action: CloudAction,
    },
    /// Run clients as one of several driver machines: wait for runs, and take part in them
    #[command(after_help = examples::AGENT)]
    Agent(AgentArgs),
    /// List the agents that use a database, and their state
    #[command(after_help = examples::AGENTS)]
    Agents(AgentsArgs),
    /// Keep a private PostgreSQL running between runs
    #[command(after_help = examples::SERVER)]
    Server {
        #[command(subcommand)]
        action: Server,
    },
    /// List or remove data that private servers have loaded and kept
    #[command(after_help = examples::CACHE)]
    Cache {
        #[command(subcommand)]
        action: CacheAction,
    },
    /// Run as pgbench does, with all its options and its output (drop-in)
    #[command(disable_help_flag = true)]
    Pgbench {
        /// pgbench's options: `pgdyno pgbench --help` has them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Print the completions of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a directory
    #[command(after_help = examples::MAN)]
    Man {
        /// The directory, such as ~/.local/share/man/man1
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunCommand {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Objective, as in "p99 < 10ms", "errors < 0.1%", "tps > 500" or "new-order p99 < 20ms"; if the run misses it, the exit code is 22.
    /// May be given several times
    #[arg(help_heading = "Output", long, value_name = "OBJECTIVE", value_parser = Objective::parse)]
    pub(crate) slo: Vec<Objective>,
    /// Format of the report on standard output
    #[arg(help_heading = "Output", long, default_value = "text", hide_short_help = true, value_parser = ["text", "json", "csv", "markdown"])]
    pub(crate) format: String,
    /// Open the page in the browser when the run has ended
    #[arg(help_heading = "Output", long, hide_short_help = true)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanCommand {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs<C: Takes> {
    #[command(flatten)]
    pub(crate) options: OrderArgs<C>,
    /// No progress
    #[arg(help_heading = "Output", short, long, hide_short_help = true)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs<OfData>,
    /// Also test isolation and durability (tproc-c: clauses 3.4 and 3.5). This changes the data as a run does; no other
    /// program may use the data meanwhile
    #[arg(help_heading = "Checks", long)]
    pub(crate) isolation: bool,
    /// Isolation level of the tests: read-committed, repeatable-read or serializable [default: that of runs]
    #[arg(help_heading = "Checks", long, value_name = "LEVEL", requires = "isolation", value_parser = isolation_level, hide_short_help = true)]
    pub(crate) isolation_level: Option<IsolationLevel>,
    /// Also compare the answers of tproc-h's queries with those of another program over the same rows, with the
    /// parameters of the power stage: duckdb, as the program `duckdb` or the Python module
    #[arg(help_heading = "Checks", long, value_name = "PROGRAM", value_parser = ["duckdb"], hide_short_help = true)]
    pub(crate) oracle: Option<String>,
    /// Check again which commits of this run with a ledger are present, on its target or on another server such as a standby:
    /// `check ledger --run last`
    #[arg(help_heading = "Checks", long, value_name = "RUN", conflicts_with_all = ["isolation", "oracle"])]
    pub(crate) run: Option<String>,
    /// Where run directories are: answers to tproc-h's queries are compared with those of the last complete run over the same
    /// rows
    #[arg(help_heading = "Checks", long, value_name = "DIR", default_value = RESULTS, hide_short_help = true)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

fn isolation_level(name: &str) -> Result<IsolationLevel, String> {
    let names = IsolationLevel::ALL.map(|level| level.name().replace(' ', "-"));
    IsolationLevel::from_name(name).ok_or_else(|| format!("the levels are {}", names.join(", ")))
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs<OfLoad>,
    /// Replace even tables that pgdyno did not create
    #[arg(help_heading = "Data", long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DropArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs<OfData>,
    /// Drop even tables that pgdyno did not create
    #[arg(help_heading = "Data", long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum List {
    /// List workloads by family; `pgdyno show WORKLOAD` lists the parameters of one
    #[command(after_help = examples::LIST)]
    Workloads(FormatArgs),
    /// List recipes, the scenarios of published guides, and their sizes
    #[command(after_help = examples::LIST)]
    Recipes(FormatArgs),
    /// List runs, experiments, searches, frontiers and suites, oldest first
    #[command(after_help = examples::LIST)]
    Runs {
        #[command(flatten)]
        select: Box<SelectArgs>,
        /// Also list each run of experiments, searches, frontiers and suites, instead of one line for all of its runs
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        format: FormatArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A run directory, a run.json, a file written by --json, the beginning or end of the name of a run, an experiment, a search or a frontier, `last`, or `last-1` for the one before
    pub(crate) run: String,
    /// Output format; svg for frontiers, time-profile, ycsb and sysbench for runs
    #[arg(long, default_value = "text", default_value_if("open", "true", "html"), value_parser = ["text", "json", "csv", "markdown", "html", "svg", "time-profile", "ycsb", "sysbench"])]
    pub(crate) format: String,
    /// Write the page, and open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// The file to write; `-` is standard output [default: standard output; for html report.html in the run
    /// directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// As text: print all figures of the run below its summary
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheAction {
    /// List the kept data, with size and last use
    #[command(after_help = examples::CACHE)]
    List {
        /// Format of the list
        #[arg(long, default_value = "text", value_parser = ["text", "json"])]
        format: String,
    },
    /// Remove all kept data
    #[command(after_help = examples::CACHE)]
    Clear,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Server {
    /// Start a private server
    #[command(after_help = examples::SERVER_START)]
    Start {
        /// Also listen on 127.0.0.1, with a random password
        #[arg(long)]
        tcp: bool,
        /// `embedded`; `embedded:18` for a major version; `embedded:/path/to/bin` for the PostgreSQL in a directory
        #[arg(long, default_value = "embedded", value_parser = target::private_server)]
        target: pgdyno_server::Want,
        /// Maximum number of connections
        #[arg(long, default_value_t = 200)]
        connections: u32,
        /// A setting of PostgreSQL, as NAME=VALUE
        #[arg(long = "set", value_name = "NAME=VALUE", value_parser = target::setting)]
        settings: Vec<(String, String)>,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Stop the private server and remove its data
    #[command(after_help = examples::SERVER_STOP)]
    Stop {
        /// Keep the data for the next start
        #[arg(long)]
        keep_data: bool,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show whether a private server is running, and how to reach it
    #[command(after_help = examples::SERVER_STATUS)]
    Status(FormatArgs),
    /// Run a null server, which answers every query at once, to measure the maximum of a driver
    #[command(after_help = examples::SERVER_NULL)]
    Null {
        /// Listen on this port of 127.0.0.1; 0 chooses a free one
        #[arg(long, conflicts_with = "socket_dir")]
        port: Option<u16>,
        /// Listen on a socket in this directory, as port 5432
        #[arg(long, value_name = "DIR")]
        socket_dir: Option<PathBuf>,
        /// Microseconds of server CPU that each reply takes
        #[arg(long, value_name = "US", default_value_t = 0)]
        spin_us: u64,
        #[command(flatten)]
        format: FormatArgs,
        /// End with standard input, as the server of a run does
        #[arg(long, hide = true)]
        until_eof: bool,
    },
}
