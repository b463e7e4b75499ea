//! What the doctor examines.

use std::path::PathBuf;

use clap::Args;
use pgdyno_plan::TargetOrder;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// A libpq URI or key=value string, or a name in pgdyno.toml [default: the server of the PG* environment; if there is
    /// none, only this machine is checked]
    #[arg(help_heading = "Target", long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// The file with the named targets
    #[arg(help_heading = "Target", long, value_name = "FILE", default_value = pgdyno_plan::targets::FILE)]
    config: PathBuf,
    /// Output format
    #[arg(help_heading = "Output", long, default_value = "text", value_parser = ["text", "json"])]
    pub(crate) format: String,
    /// Where it is written; `-` is standard output
    #[arg(help_heading = "Output", short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also show the checks that passed
    #[arg(help_heading = "Output", short, long)]
    pub(crate) verbose: bool,
}

impl DoctorArgs {
    /// Returns the order of the target.
    pub(crate) fn order(&self) -> TargetOrder {
        let (target, config) = (self.target.clone(), Some(self.config.clone()));
        TargetOrder {
            target: target.map(Into::into),
            config,
            settings: Vec::new(),
            tcp: false,
            ..TargetOrder::default()
        }
    }
}
