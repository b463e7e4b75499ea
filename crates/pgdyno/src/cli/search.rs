//! The search for the highest load that meets an objective.

use clap::Args;
use pgdyno_results::Objective;

use super::RunArgs;
use pgdyno_text::parse::positive;

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What must hold: p50, p90, p95, p99, p99.9, max or mean of the response time, as in "p99 < 10ms"; "errors <
    /// 0.1%"; "tps > 500"; for one kind of transactions "new-order p99 < 20ms". May be given several times; all must hold
    #[arg(help_heading = "Search", long, required = true, value_name = "OBJECTIVE", value_parser = Objective::parse)]
    pub(crate) slo: Vec<Objective>,
    /// Vary the rate of an open loop, or the number of clients of a closed loop
    #[arg(help_heading = "Search", long, default_value = "rate", value_parser = ["rate", "clients"])]
    pub(crate) by: String,
    /// The lowest load [default: a thousandth of a closed loop's rate; 1 client]
    #[arg(help_heading = "Search", long, value_name = "N", value_parser = positive, hide_short_help = true)]
    pub(crate) min: Option<f64>,
    /// The highest load [default: twice a closed loop's rate; 256 clients]
    #[arg(help_heading = "Search", long, value_name = "N", value_parser = positive, hide_short_help = true)]
    pub(crate) max: Option<f64>,
    /// Maximum number of runs
    #[arg(help_heading = "Search", long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(2..=1000), hide_short_help = true)]
    pub(crate) steps: u16,
    /// Width of the interval at which the search stops, in percent of its lower end
    #[arg(help_heading = "Search", long, value_name = "PERCENT", default_value = "5", value_parser = positive, hide_short_help = true)]
    pub(crate) precision: f64,
    /// Loads below the limit to measure for the curve and its knee
    #[arg(help_heading = "Search", long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=20), hide_short_help = true)]
    pub(crate) curve: u16,
    /// Output format
    #[arg(help_heading = "Search", long, default_value = "text", value_parser = ["text", "json", "csv", "markdown", "html"], hide_short_help = true)]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}
