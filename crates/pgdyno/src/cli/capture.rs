//! What a capture reads, and from where.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pgdyno_plan::TargetOrder;
use pgdyno_text::parse;

use super::examples;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CaptureArgs {
    #[command(subcommand)]
    pub(crate) action: Option<CaptureAction>,
    #[command(flatten)]
    pub(crate) take: TakeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CaptureAction {
    /// Show the content of a capture
    #[command(after_help = examples::CAPTURE_SHOW)]
    Show {
        /// The capture
        file: PathBuf,
        /// Output format
        #[arg(long, default_value = "text", value_parser = ["text", "json"])]
        format: String,
        /// Where it is written; `-` is standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Show all statements with their complete texts, and all tables
        #[arg(short, long)]
        verbose: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TakeArgs {
    /// A libpq URI or key=value string, or a name in pgdyno.toml [default: the server of the PG* environment]
    #[arg(help_heading = "Target", long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// The file with the named targets
    #[arg(help_heading = "Target", long, value_name = "FILE", default_value = pgdyno_plan::targets::FILE)]
    config: PathBuf,
    /// Length of the window, as in 10min; Ctrl-C ends it early
    #[arg(help_heading = "Capture", long, value_name = "TIME", default_value = "10min", value_parser = window)]
    pub(crate) window: parse::Duration,
    /// Replace constants left in statements by parameters
    #[arg(help_heading = "Capture", long)]
    pub(crate) anonymise: bool,
    /// A log with sampled transactions, or its directory
    ///
    /// The format is csvlog, jsonlog or that of stderr, entries of Google Cloud Logging, or records of Azure Monitor. The log is read at the
    /// end of the window. May be given several times.
    #[arg(help_heading = "Capture", long, value_name = "FILE")]
    pub(crate) log: Vec<PathBuf>,
    /// log_line_prefix of a log in stderr's format [default: the server's setting]
    #[arg(help_heading = "Capture", long, value_name = "PREFIX", requires = "log", hide_short_help = true)]
    pub(crate) log_prefix: Option<String>,
    /// A new file for the capture [default: DATABASE.capture]
    #[arg(help_heading = "Output", short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// No progress
    #[arg(help_heading = "Output", short, long)]
    pub(crate) quiet: bool,
}

impl TakeArgs {
    /// Returns the order of the target.
    pub(crate) fn order(&self) -> TargetOrder {
        let (target, config) = (self.target.clone(), Some(self.config.clone()));
        TargetOrder { target: target.map(Into::into), config, ..TargetOrder::default() }
    }
}

/// Reads the length of a window.
fn window(text: &str) -> Result<parse::Duration, String> {
    let seconds = parse::duration(text)?;
    if (1.0..=30.0 * 86_400.0).contains(&seconds) {
        Ok(parse::Duration::from_seconds(seconds))
    } else {
        Err("a window lasts from 1s to 30d".to_owned())
    }
}
