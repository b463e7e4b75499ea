//! Which recipe or workload is shown.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A workload of `pgdyno list workloads`, a recipe of `pgdyno list recipes`, or your own recipe file
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) format: super::FormatArgs,
}
