//! Results as local web pages.

use clap::Args;

use super::ResultsArgs;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The port of 127.0.0.1 to listen on; 0 chooses a free one
    #[arg(long, default_value_t = 8432)]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
}
