//! Suites.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pgdyno_plan::SuitePlan;

use super::{ConsentArgs, FormatArgs, OutArgs, PushArgs, examples};

#[derive(Debug, Subcommand)]
pub(crate) enum Suite {
    /// Run a suite in this terminal
    #[command(after_help = examples::SUITE_RUN)]
    Run(BeginArgs),
    /// Print the runs of a suite in order, and their time; writes nothing
    #[command(after_help = examples::SUITE_PLAN)]
    Plan {
        #[command(flatten)]
        suite: SuiteArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Start a suite in the background; it continues when the terminal is closed
    #[command(after_help = examples::SUITE_START)]
    Start(BeginArgs),
    /// Resume a suite that was interrupted or killed; complete runs are not repeated
    #[command(after_help = examples::SUITE_RESUME)]
    Resume(ResumeArgs),
    /// Show the progress of a suite
    #[command(after_help = examples::SUITE_STATUS)]
    Status {
        #[command(flatten)]
        which: ExecutionArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Follow the output of a suite to its end; Ctrl-C leaves it running
    #[command(after_help = examples::SUITE_ATTACH)]
    Attach {
        #[command(flatten)]
        which: ExecutionArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Stop a suite and its current run; it can be resumed
    #[command(after_help = examples::SUITE_STOP)]
    Stop {
        #[command(flatten)]
        which: ExecutionArgs,
        /// Stop at once, without waiting for transactions and checks
        #[arg(long)]
        now: bool,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// List all suites that were started
    #[command(after_help = examples::SUITE_LIST)]
    List {
        #[command(flatten)]
        out: OutArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show the table of a suite: mean and spread of each cell, and published figures
    #[command(after_help = examples::SUITE_REPORT)]
    Report {
        #[command(flatten)]
        which: ExecutionArgs,
        /// Output format
        #[arg(long, default_value = "text", value_parser = ["text", "json", "markdown", "csv", "junit"])]
        format: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// The suite's file
    pub(crate) file: PathBuf,
    /// Label all runs, as in commit=abc123; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = super::target::setting)]
    pub(crate) labels: Vec<(String, String)>,
    /// The file with the named targets
    #[arg(long, value_name = "FILE", default_value = pgdyno_plan::targets::FILE)]
    pub(crate) config: PathBuf,
    #[command(flatten)]
    pub(crate) out: OutArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BeginArgs {
    #[command(flatten)]
    pub(crate) suite: SuiteArgs,
    #[command(flatten)]
    pub(crate) store: PushArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExecutionArgs {
    /// A suite's name, for its newest execution, or an execution's own name or directory [default: the newest of all]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) out: OutArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// A suite's name or file, for its newest execution, or an execution's own name or directory [default: the newest
    /// of all]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) out: OutArgs,
    /// Also repeat runs that failed
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Resume in the background, as `suite start` does
    #[arg(long)]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) store: PushArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
    /// This process is the one without a terminal
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub(crate) detached: bool,
}

/// Parses `SUITE:ID:RUN:REPETITION`; the run's key may contain colons.
pub(super) fn suite_run(text: &str) -> Result<SuitePlan, String> {
    let parts = || {
        let (suite, rest) = text.split_once(':')?;
        let (id, rest) = rest.split_once(':')?;
        let (run, repetition) = rest.rsplit_once(':')?;
        Some((suite, id, run, repetition))
    };
    let (suite, id, run, repetition) = parts().ok_or("write SUITE:ID:RUN:REPETITION")?;
    Ok(SuitePlan {
        suite: suite.to_owned(),
        id: id.to_owned(),
        run: run.to_owned(),
        repetition: repetition.parse().map_err(|_| "the repetition is not a number".to_owned())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_key_may_hold_colons() {
        let place = suite_run("nightly:20260101T000000Z-ab12:noop@embedded:18:3").unwrap();
        assert_eq!((place.run.as_str(), place.repetition), ("noop@embedded:18", 3));
        assert!(suite_run("a:b:c").is_err() && suite_run("a:b:c:d").is_err());
    }
}
