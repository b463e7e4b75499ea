//! Agents, where they run and where they are listed.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `pgdyno agent`.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The PostgreSQL database through which runs reach the agent, as for --target; not a measured server
    #[arg(long, value_name = "DSN")]
    pub(crate) meet: String,
    /// End after the first run
    #[arg(long)]
    pub(crate) once: bool,
    /// A server that the agent may connect to; may be given several times [default: the server of the PG* variables]
    ///
    /// Host, port, database and role must be those that the run's --target names; a name in pgdyno.toml is possible, too. The
    /// password comes from PGPASSWORD, ~/.pgpass or a service file of this machine. It goes to another machine by SCRAM only,
    /// unless require_auth is given.
    #[arg(long, value_name = "DSN", conflicts_with = "target")]
    pub(crate) allow_target: Vec<String>,
    /// The only server that the agent connects to, at the address that this machine uses, whatever address a run names
    #[arg(long, value_name = "DSN")]
    pub(crate) target: Option<String>,
    /// Allow scripts of runs to execute commands on this machine (`\shell`, `\setshell`)
    #[arg(long)]
    pub(crate) allow_shell: bool,
    /// The file with the named targets [default: pgdyno.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// No messages
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
    /// The PostgreSQL database of the agents' --meet
    #[arg(long, value_name = "DSN")]
    pub(crate) meet: String,
    #[command(flatten)]
    pub(crate) format: super::FormatArgs,
}
