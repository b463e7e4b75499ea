//! Which faults a run can cause.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pgdyno_plan::TargetOrder;

use super::{FormatArgs, examples};

#[derive(Debug, Subcommand)]
pub(crate) enum FaultAction {
    /// List the faults, what each needs, and what is missing on a target; connects to no server
    #[command(after_help = examples::FAULT)]
    List(FaultListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FaultListArgs {
    /// A libpq URI or key=value string, or a name in pgdyno.toml [default: as for `run`]
    #[arg(help_heading = "Target", long, value_name = "TARGET")]
    target: Option<String>,
    /// The file with the named targets
    #[arg(help_heading = "Target", long, value_name = "FILE", default_value = pgdyno_plan::targets::FILE)]
    config: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

impl FaultListArgs {
    /// Returns the order of the target.
    pub(crate) fn order(&self) -> TargetOrder {
        let (target, config) = (self.target.clone().map(Into::into), Some(self.config.clone()));
        TargetOrder { target, config, ..TargetOrder::default() }
    }
}
