//! An A/B experiment.

use clap::Args;
use pgdyno_text::parse;

use super::compare::{confidence, loss};
use super::{RunArgs, examples};

const DIFFERENCES: &str = "A difference is NAME=VALUE: a setting of the server (shared_buffers=8GB), target=TARGET or just \
embedded:DIR, script=FILE, mode=prepared, or param:NAME=VALUE for the workload. Each may be given several times.";

const EXIT_CODES: &str = "Exit codes: 0 not slower, 20 slower, 21 cannot tell. docs/ab.md has more.";

#[derive(Debug, Args)]
#[command(after_help = [DIFFERENCES, EXIT_CODES, examples::AB].join("\n\n"))]
pub(crate) struct AbArgs {
    /// A difference of A, the baseline
    #[arg(help_heading = "Experiment", long, value_name = "DIFFERENCE")]
    pub(crate) a: Vec<String>,
    /// A difference of B, the candidate
    #[arg(help_heading = "Experiment", long, value_name = "DIFFERENCE")]
    pub(crate) b: Vec<String>,
    /// Time limit, not counting the load
    #[arg(help_heading = "Experiment", long, value_name = "TIME", default_value = "10min", value_parser = parse::duration)]
    pub(crate) budget: f64,
    /// Smallest change that matters; the experiment also ends when larger ones are ruled out
    #[arg(help_heading = "Experiment", long, value_name = "PERCENT", default_value = "2%", value_parser = loss, hide_short_help = true)]
    pub(crate) margin: f64,
    /// Continue an experiment that ended undecided: its name, the beginning or end of it, its record, or `last`.
    /// It can only be combined with --budget (from now on), --out, --format and --quiet
    #[arg(help_heading = "Experiment", long, value_name = "EXPERIMENT", hide_short_help = true)]
    pub(crate) resume: Option<String>,
    /// Length of a slice [default: 2s; 1s where the servers are not restarted]
    #[arg(help_heading = "Experiment", long, value_name = "TIME", value_parser = parse::duration, hide_short_help = true)]
    pub(crate) slice: Option<f64>,
    /// Confidence level in percent; at 95, at most 5 of 100 experiments without a difference report one
    #[arg(help_heading = "Experiment", long, value_name = "PERCENT", default_value = "95", value_parser = confidence, hide_short_help = true)]
    pub(crate) confidence: f64,
    /// Output format
    #[arg(help_heading = "Experiment", long, default_value = "text", value_parser = ["text", "json", "markdown", "html"], hide_short_help = true)]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}
