//! What runs are held against each other.

use std::path::PathBuf;

use clap::Args;
use pgdyno_report::scaling::Axis;
use pgdyno_results::RecordMetric;
use pgdyno_workloads::registry;

use super::{ResultsArgs, examples};

const RUNS_HELP: &str = "Runs are named as `pgdyno report` takes them: a run directory, a record, the beginning or end of a \
name, `last`; also `last-1` for the run before, SUITE/CELL for the runs of a cell in the newest execution of a suite, \
patterns such as '*-tproc-c-*' and 'SUITE/*clients=64*', and lists of these, separated by commas. \
More than one run of each side shows what differs from run to run: docs/compare.md.";

const RUNS_IN_SHORT: &str = "Runs are named by a directory, the beginning or end of a name, `last`, `last-1`, SUITE/CELL or a \
pattern, and by lists of these, separated by commas: see --help.";

#[derive(Debug, Args)]
#[command(after_help = [RUNS_IN_SHORT, examples::COMPARE].join("\n\n"), after_long_help = [RUNS_HELP, examples::COMPARE].join("\n\n"))]
pub(crate) struct CompareArgs {
    /// The baseline: a run, or several separated by commas
    pub(crate) base: String,
    /// The candidate: a run, or several separated by commas
    pub(crate) new: String,
    /// End with exit code 20 if NEW is shown to be slower by more than this, such as 3%
    #[arg(long, value_name = "PERCENT", value_parser = loss)]
    pub(crate) fail_if_slower: Option<f64>,
    /// The metric of the verdict: tps, tpm, qps, a percentile such as p99, or a metric of the workload such as nopm
    /// [default: the workload's where there is one, else tps]
    #[arg(long, value_parser = metric)]
    pub(crate) metric: Option<String>,
    /// Confidence of the intervals, in percent
    #[arg(long, value_name = "PERCENT", default_value = "95", value_parser = confidence, hide_short_help = true)]
    pub(crate) confidence: f64,
    /// With --fail-if-slower: end with exit code 0, not 21, if the runs cannot decide
    #[arg(long, requires = "fail_if_slower", hide_short_help = true)]
    pub(crate) pass_if_unsure: bool,
    /// Standard deviation between runs, if you know it, such as 2%: then one run of each side gets a verdict
    #[arg(long, value_name = "PERCENT", value_parser = loss, hide_short_help = true)]
    pub(crate) run_noise: Option<f64>,
    /// Give a verdict even if the runs did different work
    #[arg(long, hide_short_help = true)]
    pub(crate) anyway: bool,
    /// Output format
    #[arg(long, default_value = "text", value_parser = ["text", "markdown", "json", "html"])]
    pub(crate) format: String,
    /// Where it is written; `-` is standard output [default: standard output; for html compare.html in the results
    /// directory]
    #[arg(short, long, value_name = "FILE", hide_short_help = true)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
}

#[derive(Debug, Args)]
#[command(after_help = [RUNS_HELP, examples::SCALING].join("\n\n"))]
pub(crate) struct ScalingArgs {
    /// The runs
    #[arg(required = true)]
    pub(crate) runs: Vec<String>,
    /// The axis: clients, connections, threads, scale, rate, vcpus, label:NAME of the run or its target, param:NAME of
    /// the workload, or setting:NAME of the server
    #[arg(long, value_parser = axis)]
    pub(crate) axis: Axis,
    /// The metric: tps, tpm, qps, a percentile such as p99, or a metric of the workload such as nopm [default: the
    /// workload's where there is one, else tps]
    #[arg(long, value_parser = metric)]
    pub(crate) metric: Option<String>,
    /// Output format
    #[arg(long, default_value = "text", value_parser = ["text", "markdown", "csv", "json", "svg", "html"])]
    pub(crate) format: String,
    /// Where it is written; `-` is standard output [default: standard output; for html scaling.html in the results
    /// directory]
    #[arg(short, long, value_name = "FILE", hide_short_help = true)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
}

/// Parses the name of a metric that can be compared.
pub(super) fn metric(name: &str) -> Result<String, String> {
    let of_workloads = registry::metrics().into_iter().map(RecordMetric::declared);
    let known: Vec<_> = RecordMetric::comparable(of_workloads).map(|metric| metric.name().to_owned()).collect();
    if known.iter().any(|known| known == name) {
        Ok(name.to_owned())
    } else {
        Err(format!("the figures are {}", known.join(", ")))
    }
}

fn axis(text: &str) -> Result<Axis, String> {
    Axis::named(text).ok_or_else(|| format!("the axes are {}", Axis::NAMES))
}

/// Parses a percentage, with or without its sign, and returns the share.
fn share(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    number.parse::<f64>().ok().map(|percent| percent / 100.0)
}

pub(super) fn loss(text: &str) -> Result<f64, String> {
    share(text).filter(|share| (0.0..1.0).contains(share)).ok_or_else(|| "write a percentage below 100: 3%".to_owned())
}

pub(super) fn confidence(text: &str) -> Result<f64, String> {
    let words = || "write a percentage from 50 to 99.99: 95".to_owned();
    share(text).filter(|share| (0.5..=0.9999).contains(share)).ok_or_else(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read_with_and_without_their_sign() {
        assert_eq!((loss("3%"), loss("2.5 %"), loss("0")), (Ok(0.03), Ok(0.025), Ok(0.0)));
        assert_eq!((confidence("95"), confidence("50%")), (Ok(0.95), Ok(0.5)));
        for wrong in ["", "-1", "100%", "three", "nan"] {
            assert!(loss(wrong).is_err(), "{wrong}");
        }
        for wrong in ["100", "0.95", "49"] {
            assert!(confidence(wrong).is_err(), "{wrong}");
        }
    }
}
