//! What is run, and what is shown of it.

#[cfg(test)]
mod again;

use std::path::PathBuf;

use clap::Args;
use pgdyno_plan::{Order, RESULTS, SuitePlan};

use super::options::{OfRun, OrderArgs};
use super::{ConsentArgs, PushArgs};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    options: OrderArgs<OfRun>,
    #[command(flatten, next_help_heading = "Output")]
    pub(crate) out: OutArgs,
    #[command(flatten)]
    pub(crate) store: PushArgs,
    /// The place of the run in a suite
    #[arg(long, hide = true, value_name = "SUITE:ID:RUN:REPETITION", value_parser = super::suite::suite_run)]
    pub(crate) suite_run: Option<SuitePlan>,
    /// The order is the first line of standard input, as JSON; of the arguments count the place in a suite and --out
    #[arg(id = "order-of-input", long = "order", hide = true)]
    pub(crate) order_of_input: bool,
    /// End cleanly when standard input ends: the program that started the run is gone then
    #[arg(long, hide = true)]
    pub(crate) until_eof: bool,
    /// Run the plan of this record again, with its seed and the stored texts of its scripts
    ///
    /// The record is a run directory, a run.json, the beginning or end of a run's name, or `last`. Of the options of a plan,
    /// only these may be given with it: --target, --config, --os-metrics, --random-seed, --cache-size, --meet, --agents (as
    /// many as the run had), --wait, --label.
    #[arg(help_heading = "Workload", long, value_name = "RUN", hide_short_help = true)]
    pub(crate) again: Option<String>,
    /// No progress
    #[arg(help_heading = "Output", short, long, hide_short_help = true)]
    pub(crate) quiet: bool,
    /// Print all figures of the run below its summary
    #[arg(help_heading = "Output", short, long, hide_short_help = true)]
    pub(crate) verbose: bool,
    /// Show one line of progress instead of the full-screen view
    #[arg(help_heading = "Observation", long, hide_short_help = true)]
    pub(crate) no_live: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

impl RunArgs {
    /// Returns what was given, without the place of the run in a suite and its results.
    pub(crate) fn given(&self) -> &Order {
        &self.options.order
    }

    /// Returns the order of the run, without its view, its end with the input, and the record whose plan it repeats.
    pub(crate) fn order(self) -> Order {
        Order { suite: self.suite_run, out: Some(self.out.out), ..self.options.order }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OutArgs {
    /// Where run directories and results.csv are
    #[arg(long, value_name = "DIR", default_value = RESULTS, hide_short_help = true)]
    pub(crate) out: PathBuf,
}
