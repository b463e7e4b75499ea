//! Several machines as one driver: agents that meet in a PostgreSQL database and do what a run's coordinator asks.
//!
//! - [`serve`](serve::serve) is an agent: it joins a meeting and serves one run after another; `perform` is what it does for
//!   one;
//! - [`Team`] is the coordinator's side: it gathers agents, looks at the target with their eyes, and keeps them while
//!   the run goes on;
//! - [`load`](load::LoadTeam) has a team help with a load;
//! - `drive` has a team drive as the engine drives with its own threads;
//! - [`Started`](ssh::Started) are agents that a run has started by ssh;
//! - `task` is what they send each other;
//! - `allowed` is what an agent's user lets it do.
//!
//! What is coordinated, and how, is in `pgdyno-meet`, which knows nothing of runs.

mod allowed;
pub(crate) mod drive;
pub mod load;
mod perform;
pub mod serve;
mod ssh;
pub(crate) mod task;
mod team;

use std::path::PathBuf;

pub use pgdyno_meet::postgres::AgentRow;
use pgdyno_meet::postgres::{self, MeetError};
use pgdyno_net::{ConnectOptions, Env};
pub use ssh::SshMachine;

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

pub(crate) use team::Team;

/// How an agent is started.
#[derive(Clone, Debug, Default)]
pub struct AgentOrder {
    /// The connection string of the meeting database.
    pub meet: String,
    /// Leave after the first run.
    pub once: bool,
    /// The servers that it may drive, as runs name them, or names of targets.
    pub allow_targets: Vec<String>,
    /// Whether it may run the commands of scripts.
    pub allow_shell: bool,
    /// The only server that it may drive, as this machine reaches it.
    pub target: Option<String>,
    /// The file with the named targets.
    pub config: Option<PathBuf>,
    /// The word of the only run that it serves.
    pub reserved: Option<String>,
}

/// The version that agent and coordinator must have in common.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Why an agent fails whose user ends it.
const ENDED_BY_USER: &str = "its user ended it";

/// Returns what agent and coordinator must have in common: the version, and the word of a run that started its own
/// agents, so that no other run takes them.
fn program(reserved: Option<&str>) -> String {
    reserved.map_or_else(|| PROGRAM.to_owned(), |word| format!("{PROGRAM} for {word}"))
}

/// Returns how to connect to a meeting database.
fn meeting(dsn: &str) -> Result<ConnectOptions> {
    let options = ConnectOptions::resolve(dsn, &Env::from_process()).or_fail(Code::Start)?;
    Ok(options.with_application_name("pgdyno meeting"))
}

fn refused(error: MeetError, options: &ConnectOptions) -> CommandError {
    let remedy = error.remedy();
    let unreachable = matches!(error, MeetError::Connect(_));
    let failure = CommandError::new(Code::Start, error);
    match remedy {
        Some(remedy) => failure.hint(remedy),
        None if unreachable => failure.hint(format!("--meet names {options}: any PostgreSQL that all machines reach")),
        None => failure,
    }
}

/// Returns the agents at a meeting.
///
/// # Errors
/// When the meeting database cannot be reached or used.
pub fn list(dsn: &str) -> Result<Vec<AgentRow>> {
    let options = meeting(dsn)?;
    postgres::agents(&options).map_err(|error| refused(error, &options))
}
