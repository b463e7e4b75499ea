//! How server and machines are watched while a run goes on.

use clap::Args;
use pgdyno_plan::WatchOrder;

#[derive(Debug, Args)]
#[command(next_help_heading = "Observation")]
pub(crate) struct WatchArgs {
    /// Do not sample the server's statistics and the machines during the run
    #[arg(long)]
    pub(crate) no_samples: bool,
    /// How OS metrics of the server's machine are collected: `ssh user@host`, or a command that prints CSV [default:
    /// /proc, where the server runs on this machine]
    #[arg(long, value_name = "HOW", conflicts_with = "no_samples")]
    pub(crate) os_metrics: Option<String>,
    /// Keep the plans of the N statements that took most time [default: 0]
    #[arg(long, value_name = "N", conflicts_with = "no_samples")]
    pub(crate) statement_plans: Option<u32>,
    /// After the measured time, explain each query of tproc-h or ch-benchmark once (EXPLAIN ANALYZE), and keep its
    /// plan
    #[arg(long)]
    pub(crate) plans: bool,
    /// Profile a private server in the measured window with Linux' perf: a flame graph on the page, perf.svg and
    /// perf.folded in the run directory
    #[arg(long, conflicts_with = "no_samples")]
    pub(crate) perf: bool,
    /// One line of progress instead of the full-screen view
    #[arg(long)]
    pub(crate) no_live: bool,
}

impl WatchArgs {
    /// Returns how server and machines are sampled, without the view of the run.
    pub(super) fn order(self) -> WatchOrder {
        let Self { no_samples, os_metrics, statement_plans, plans, perf, no_live: _ } = self;
        WatchOrder { no_samples, os_metrics, statement_plans, plans, perf }
    }
}
