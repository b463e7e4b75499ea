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
    /// `pgdyno agent`. Or start them, as in ssh:driver1,driver2: one on each of these machines
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = agents)]
    pub(crate) agents: Option<Agents>,
    /// How long to wait for agents [default: 60]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", requires = "meet", value_parser = pgdyno_text::parse::duration)]
    pub(crate) wait: Option<f64>,
}

impl MeetingArgs {
    /// Returns who drives, and where they meet.
    pub(crate) fn order(self) -> MeetingOrder {
        let Self { meet, agents, wait } = self;
        let (agents, ssh) = match agents {
            None => (None, Vec::new()),
            Some(Agents::Waiting(number)) => (Some(number), Vec::new()),
            Some(Agents::Ssh(machines)) => (Some(machines.len() as u32), machines),
        };
        MeetingOrder { meet, agents, ssh, wait }
    }
}

/// What `--agents` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agents {
    /// So many that wait at the meeting.
    Waiting(u32),
    /// One on each of these machines.
    Ssh(Vec<String>),
}

/// The most agents of a run.
const AGENTS_MAX: usize = 1000;

fn agents(text: &str) -> Result<Agents, String> {
    let wrong = || format!("write a number from 1 to {AGENTS_MAX}, or ssh: and machines, as in ssh:driver1,driver2");
    let Some(machines) = text.strip_prefix("ssh:") else {
        let number = text.parse().ok().filter(|number| (1..=AGENTS_MAX as u32).contains(number));
        return number.map(Agents::Waiting).ok_or_else(wrong);
    };
    let machines: Vec<_> = machines.split(',').map(|machine| machine.trim().to_owned()).collect();
    // ssh would take a name with a dash for an option.
    let is_name = |machine: &String| !machine.is_empty() && !machine.starts_with('-') && !machine.contains(' ');
    let fits = machines.len() <= AGENTS_MAX && machines.iter().all(is_name);
    fits.then_some(Agents::Ssh(machines)).ok_or_else(wrong)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_a_number_or_machines() {
        assert_eq!(agents("8"), Ok(Agents::Waiting(8)));
        assert_eq!(agents("ssh:a, me@b"), Ok(Agents::Ssh(vec!["a".to_owned(), "me@b".to_owned()])));
        for wrong in ["", "0", "-1", "1001", "ssh:", "ssh:a,,b", "ssh:-oProxyCommand=x", "a,b", "ssh:a b"] {
            assert!(agents(wrong).unwrap_err().contains("ssh:driver1,driver2"), "{wrong}");
        }
    }
}
