//! Which server.

use clap::Args;
use pgdyno_life::target::{WantError, wanted};
use pgdyno_plan::TargetOrder;
use pgdyno_server::Want;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// A libpq URI or key=value string; a name in pgdyno.toml; `embedded`, `embedded:18` or `embedded:/path/to/bin`
    /// for a private server; `null` for a server that answers every query at once [default: the PG* environment, else
    /// a private server]
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// The file with the named targets
    #[arg(long, value_name = "FILE", default_value = pgdyno_plan::targets::FILE)]
    pub(crate) config: std::path::PathBuf,
    /// A setting of the server for the run, as NAME=VALUE: for a private server from its start; for your own server in
    /// the clients' sessions if they may set it, else for the whole server until the run ends
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) settings: Vec<(String, String)>,
    /// Reach the private server by TCP on 127.0.0.1 instead of its socket
    #[arg(long)]
    pub(crate) tcp: bool,
}

impl TargetArgs {
    /// Returns the order of a target.
    pub(crate) fn order(&self) -> TargetOrder {
        let Self { target, config, settings, tcp } = self.clone();
        let target = target.map(Into::into);
        TargetOrder { target, config: Some(config), settings, tcp, ..TargetOrder::default() }
    }
}

/// The answer to the question whether to write.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConsentArgs {
    /// Do not ask before writing to a server that only the PG* environment names, or before doing what a record of --again or
    /// --resume asks for beyond its SQL
    #[arg(help_heading = "Target", short = 'y', long)]
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
