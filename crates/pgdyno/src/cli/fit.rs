//! What a capture is fitted to.

use std::path::PathBuf;

use clap::Args;
use pgdyno_plan::TargetOrder;

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// The capture
    pub(crate) capture: PathBuf,
    /// A copy of the captured database: a libpq URI or key=value string, or a name in pgdyno.toml [default: the server of the PG*
    /// environment]
    #[arg(help_heading = "Target", long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// The file with the named targets
    #[arg(help_heading = "Target", long, value_name = "FILE", default_value = pgdyno_plan::targets::FILE)]
    config: PathBuf,
    /// Allow a physical copy, which has the captured system identifier, or the captured database itself
    ///
    /// A base backup, a snapshot or a clone. Statements that write are executed there, and rolled back.
    #[arg(help_heading = "Target", long)]
    pub(crate) captured_server: bool,
    /// Drop the values of an earlier fit on this copy; its workload no longer runs
    #[arg(help_heading = "Target", long)]
    pub(crate) replace: bool,
    /// Fit the most expensive statements, until they account for this share of the captured time
    #[arg(help_heading = "Fit", long, value_name = "PERCENT", default_value = "99.9", value_parser = percent)]
    pub(crate) time_share: f64,
    /// The directory of the workload; it must be empty or not exist
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// No progress
    #[arg(help_heading = "Output", short, long)]
    pub(crate) quiet: bool,
}

impl FitArgs {
    /// Returns the order of the target.
    pub(crate) fn order(&self) -> TargetOrder {
        let (target, config) = (self.target.clone(), Some(self.config.clone()));
        TargetOrder { target: target.map(Into::into), config, ..TargetOrder::default() }
    }
}

/// Reads a percentage as a share.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err("write a percentage above 0 and up to 100".to_owned()),
    }
}
