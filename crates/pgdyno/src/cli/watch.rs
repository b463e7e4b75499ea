//! How server and machines are watched while a run goes on.

use clap::Args;
use pgdyno_plan::WatchPlan;
use pgdyno_server::os::OsMetrics;

use crate::target::Named;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WatchArgs {
    /// Do not sample the server's statistics, nor the machines, while the clients are at work
    #[arg(long)]
    pub(crate) no_samples: bool,
    /// How the server's machine is looked at: `ssh user@host`, or a command that prints CSV [default: /proc, where the
    /// server runs on this machine]
    #[arg(long, value_name = "HOW", conflicts_with = "no_samples")]
    pub(crate) os_metrics: Option<String>,
    /// Keep the plans of so many of the statements that took most time
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "no_samples")]
    pub(crate) statement_plans: u32,
    /// One line of progress instead of the full-screen view
    #[arg(long)]
    pub(crate) no_live: bool,
}

impl WatchArgs {
    /// How the server's machine is looked at, where that is said here or of the target.
    pub(crate) fn os_metrics(&self, target: Option<&Named>) -> Option<OsMetrics> {
        let entry = target.map(|named| &named.entry);
        let how = self.os_metrics.as_ref().or(entry.and_then(|entry| entry.os_metrics.as_ref()))?;
        let cpus = entry.and_then(|entry| entry.vcpus).map(f64::from);
        (!self.no_samples).then(|| OsMetrics::parse(how, cpus))
    }

    /// As the plan has it.
    pub(crate) fn plan(&self, target: Option<&Named>) -> WatchPlan {
        let os = self.os_metrics(target).map(|how| how.name());
        WatchPlan { off: self.no_samples, os, statement_plans: self.statement_plans }
    }
}
