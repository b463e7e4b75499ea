//! Text for people, or JSON for programs.

use clap::Args;

/// The format of what a command prints.
#[derive(Clone, Debug, Args)]
pub(crate) struct FormatArgs {
    /// Output format; the JSON Schema is in schemas/v1 of the source code
    #[arg(help_heading = "Output", long, default_value = "text", value_parser = ["text", "json"])]
    format: String,
}

impl FormatArgs {
    /// Returns true if JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.format == "json"
    }
}
