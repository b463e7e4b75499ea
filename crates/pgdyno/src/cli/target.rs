//! Which server.

use clap::Args;
use pgdyno_life::target::{WantError, wanted};
use pgdyno_server::Want;

/// The answer to the question whether to write.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConsentArgs {
    /// Do not ask before writing to a server that only the PG* environment names, nor before executing commands or connecting
    /// to servers that a record of --again or --resume names
    #[arg(help_heading = "Target", short = 'y', long, hide_short_help = true)]
    pub(crate) yes: bool,
}

/// Parses the target of a private server.
pub(super) fn private_server(text: &str) -> Result<Want, WantError> {
    wanted(&text.into())
}

/// Parses `NAME=VALUE`.
pub(super) fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
