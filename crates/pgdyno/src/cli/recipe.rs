//! Which recipe is shown.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A recipe, which `pgdyno list recipes` names, or your own recipe file
    pub(crate) recipe: String,
    #[command(flatten)]
    pub(crate) format: super::FormatArgs,
}
