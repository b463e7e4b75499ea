//! Which server.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// A libpq URI or key=value string; `embedded` or `embedded:18` for a private server; `null` for one that
    /// only answers [default: the PG* environment, else a private server]
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// A setting of the private server, as NAME=VALUE
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) settings: Vec<(String, String)>,
    /// Reach the private server by TCP on 127.0.0.1 instead of its socket
    #[arg(long)]
    pub(crate) tcp: bool,
}

/// `NAME=VALUE`.
pub(super) fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
