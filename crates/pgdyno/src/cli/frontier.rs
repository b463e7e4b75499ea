//! The frontier of transactions and queries.

use clap::Args;
use pgdyno_results::Objective;
use pgdyno_text::parse;

use super::{RunArgs, examples};

#[derive(Debug, Args)]
#[command(after_help = examples::FRONTIER)]
pub(crate) struct FrontierArgs {
    /// Largest number of streams of queries
    #[arg(help_heading = "Frontier", long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) max_streams: u32,
    /// Runs of each point
    #[arg(help_heading = "Frontier", long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20), hide_short_help = true)]
    pub(crate) repeats: u32,
    /// Time limit, without the load and the run of the highest rate; no run begins that would exceed it
    #[arg(help_heading = "Frontier", long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) budget: Option<f64>,
    /// An objective of the transactions, as in "p99 < 50ms" or "new-order p99 < 50ms". Points that miss it, or their rate, are drawn hollow. May be given several times
    #[arg(help_heading = "Frontier", long, value_name = "OBJECTIVE", value_parser = Objective::parse)]
    pub(crate) slo: Vec<Objective>,
    /// Do not restore the data before each run: it grows from run to run
    #[arg(help_heading = "Frontier", long, hide_short_help = true)]
    pub(crate) no_restore: bool,
    /// Continue a frontier: its name, the beginning or end of it, its record, or `last`. It can only be combined with --budget (in
    /// all), --repeats, --out, --format and --quiet
    #[arg(help_heading = "Frontier", long, value_name = "FRONTIER", hide_short_help = true)]
    pub(crate) resume: Option<String>,
    /// Output format
    #[arg(help_heading = "Frontier", long, default_value = "text", value_parser = ["text", "json", "csv", "svg", "html"], hide_short_help = true)]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}
