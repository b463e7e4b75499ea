//! Agents on other machines, and where they meet.

use std::path::PathBuf;

use clap::Args;
use pgdyno_plan::MeetingOrder;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Several drivers")]
pub(crate) struct MeetingArgs {
    /// The PostgreSQL database where agents meet, as --target has it; not the measured server
    #[arg(long, value_name = "DSN")]
    pub(crate) meet: Option<String>,
    /// Let this many agents drive, each a share of the clients, instead of this process, or help with a load; see
    /// `pgdyno agent`
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) agents: Option<u32>,
    /// How long to wait for agents [default: 60]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", requires = "meet", value_parser = pgdyno_plan::units::duration)]
    pub(crate) wait: Option<f64>,
}

impl MeetingArgs {
    /// Returns who drives, and where they meet.
    pub(crate) fn order(self) -> MeetingOrder {
        let Self { meet, agents, wait } = self;
        MeetingOrder { meet, agents, wait }
    }
}

/// The arguments of `pgdyno agent`.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The PostgreSQL database to meet in, as --target has it
    #[arg(long, value_name = "DSN")]
    pub(crate) meet: String,
    /// End after the first run
    #[arg(long)]
    pub(crate) once: bool,
    /// The measured server as this machine reaches it [default: as the run names it, with the password from PGPASSWORD,
    /// ~/.pgpass or a service of this machine]
    #[arg(long, value_name = "DSN")]
    pub(crate) target: Option<String>,
    /// The file with named targets [default: pgdyno.toml]
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) config: Option<PathBuf>,
    /// Say nothing
    #[arg(short, long)]
    pub(crate) quiet: bool,
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
