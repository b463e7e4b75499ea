//! Agents, where they run and where they are listed.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `pgdyno agent`.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The PostgreSQL database to meet in, as --target has it
    #[arg(long, value_name = "DSN")]
    pub(crate) meet: String,
    /// End after the first run
    #[arg(long)]
    pub(crate) once: bool,
    /// A server that the agent may drive, as runs name it in --target: host, port, database and role must be the same; or a
    /// name of pgdyno.toml. May be repeated. The password comes from PGPASSWORD, ~/.pgpass or a service of this machine, and
    /// goes to another machine by SCRAM only, unless require_auth is given [default: the server of the PG* variables]
    #[arg(long, value_name = "DSN", conflicts_with = "target")]
    pub(crate) allow_target: Vec<String>,
    /// The only server that the agent may drive, as this machine reaches it, whatever address a run names
    #[arg(long, value_name = "DSN")]
    pub(crate) target: Option<String>,
    /// Run \\shell and \\setshell of a run's scripts on this machine
    #[arg(long)]
    pub(crate) allow_shell: bool,
    /// The file with named targets [default: pgdyno.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Say nothing
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Serve only the run that has this word
    #[arg(long, hide = true, value_name = "WORD")]
    pub(crate) reserved: Option<String>,
    /// End when standard input ends: the program that started the agent is gone then
    #[arg(long, hide = true)]
    pub(crate) until_eof: bool,
}

/// The arguments of `pgdyno agents`.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    /// The PostgreSQL database where they meet
    #[arg(long, value_name = "DSN")]
    pub(crate) meet: String,
    #[command(flatten)]
    pub(crate) format: super::FormatArgs,
}
