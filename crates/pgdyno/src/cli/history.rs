//! The history of a metric.

use std::path::PathBuf;

use clap::Args;
use pgdyno_report::history::{HistoryOptions, WITHIN};

use super::compare::{confidence, loss, metric};
use super::{SelectArgs, examples};

const HISTORY_HELP: &str = "\
RUNS are named as `pgdyno compare` takes them. Runs that did the same work on the same target are a series; all private servers \
are one target, whichever PostgreSQL they are.";

const EXIT_CODES: &str =
    "Exit codes: 0 no slowdown within the last runs, 20 a slowdown, 21 too few runs to tell. docs/history.md has more.";

#[derive(Debug, Args)]
#[command(after_help = [EXIT_CODES, examples::HISTORY].join("\n\n"), after_long_help = [HISTORY_HELP, EXIT_CODES, examples::HISTORY].join("\n\n"))]
pub(crate) struct HistoryArgs {
    /// Only these runs [default: all]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// The metric: tps, tpm, qps, a percentile such as p99, or a metric of the workload such as nopm [default: the
    /// workload's where there is one, else tps]
    #[arg(long, value_parser = metric)]
    pub(crate) metric: Option<String>,
    /// Name runs by this label [default: commit]
    #[arg(long, value_name = "LABEL")]
    pub(crate) by: Option<String>,
    /// End with exit code 20 if the level fell within the last N runs and has not risen again
    #[arg(long, value_name = "N", default_value_t = WITHIN, value_parser = at_least_three)]
    pub(crate) within: usize,
    /// Slowdowns below this percentage, such as 2%, do not change the exit code
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = loss, hide_short_help = true)]
    pub(crate) margin: f64,
    /// Confidence level in percent; at 95, at most 5 of 100 histories of equal runs ever show a change
    #[arg(long, value_name = "PERCENT", default_value = "95", value_parser = confidence, hide_short_help = true)]
    pub(crate) confidence: f64,
    /// End with exit code 0, not 21, if there are too few runs to decide
    #[arg(long, hide_short_help = true)]
    pub(crate) pass_if_unsure: bool,
    /// Output format
    #[arg(long, default_value = "text", value_parser = ["text", "json", "csv", "markdown"], hide_short_help = true)]
    pub(crate) format: String,
    /// Where it is written; `-` is standard output [default: standard output]
    #[arg(short, long, value_name = "FILE", hide_short_help = true)]
    pub(crate) output: Option<PathBuf>,
}

impl HistoryArgs {
    /// Returns the options of the history.
    pub(crate) fn options(&self) -> HistoryOptions {
        HistoryOptions {
            metric: self.metric.clone(),
            confidence: self.confidence,
            within: self.within,
            margin: self.margin,
            label: self.by.clone(),
            // Who names runs, or a suite, means what it has.
            slices: !self.runs.is_empty() || self.select.suite.is_some(),
        }
    }
}

/// Parses a number of runs: a change needs three.
fn at_least_three(text: &str) -> Result<usize, String> {
    let runs = text.parse().ok().filter(|runs| *runs >= 3);
    runs.ok_or_else(|| "write a number of runs, at least 3: so many show a change".to_owned())
}
