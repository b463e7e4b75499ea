//! Agents on other machines, and where they meet.

use pgdyno_text::parse::duration;
use pgdyno_workload::{Commands, OptionSpec, ValueKind};

use super::access::{Access, given, text};
use super::kept::{figures, one_of, values};
use super::{KeptOption, OptionGroup, RunOption};
use crate::Order;

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Several drivers",
    options: &[
        RunOption {
            spec: OptionSpec::value(
                "meet",
                ValueKind::Text,
                "DSN",
                "The PostgreSQL database through which agents are coordinated, as for --target; not on the measured server",
            ),
            commands: Commands::Load,
            suite: None,
            access: given!(meeting.meet, text),
            kept: KeptOption::Nothing,
            sample: "host=meet",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec {
                details: "ssh:driver1,driver2 starts an agent on each of these machines",
                ..OptionSpec::value(
                    "agents",
                    ValueKind::Whole,
                    "N",
                    "Let this many agents run the clients instead of this process, or help to load; see `pgdyno agent`",
                )
            },
            commands: Commands::Load,
            suite: Some("agents"),
            access: Access { set: agents, get: agents_of },
            kept: values("agents", figures, |plan| one_of(plan.drive.agents)),
            sample: "3",
            beside: "noop -c 9",
        },
        RunOption {
            spec: OptionSpec {
                requires: Some("meet"),
                ..OptionSpec::value("wait", ValueKind::Time, "TIME", "How long to wait for agents [default: 60]")
            },
            commands: Commands::Load,
            suite: None,
            access: given!(meeting.wait, duration),
            kept: KeptOption::Nothing,
            sample: "90s",
            beside: "noop --meet host=meet",
        },
    ],
};

/// The most agents of a run.
const AGENTS_MAX: usize = 1000;

/// Sets the number of agents that wait at the meeting, or the machines on which they are started.
fn agents(order: &mut Order, text: &str) -> Result<(), String> {
    let wrong = || format!("write a number from 1 to {AGENTS_MAX}, or ssh: and machines, as in ssh:driver1,driver2");
    let Some(machines) = text.strip_prefix("ssh:") else {
        let number = text.parse().ok().filter(|number| (1..=AGENTS_MAX as u32).contains(number));
        (order.meeting.agents, order.meeting.ssh) = (Some(number.ok_or_else(wrong)?), Vec::new());
        return Ok(());
    };
    let machines: Vec<_> = machines.split(',').map(|machine| machine.trim().to_owned()).collect();
    // ssh would take a name with a dash for an option.
    let is_name = |machine: &String| !machine.is_empty() && !machine.starts_with('-') && !machine.contains(' ');
    if machines.len() > AGENTS_MAX || !machines.iter().all(is_name) {
        return Err(wrong());
    }
    (order.meeting.agents, order.meeting.ssh) = (Some(machines.len() as u32), machines);
    Ok(())
}

fn agents_of(order: &Order) -> Vec<String> {
    match order.meeting.ssh.as_slice() {
        [] => order.meeting.agents.iter().map(u32::to_string).collect(),
        machines => vec![format!("ssh:{}", machines.join(","))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_a_number_or_machines() {
        let set = |text: &str| {
            let mut order = Order::default();
            agents(&mut order, text).map(|()| (order.meeting.agents, order.meeting.ssh))
        };
        assert_eq!(set("8"), Ok((Some(8), Vec::new())));
        assert_eq!(set("ssh:a, me@b"), Ok((Some(2), vec!["a".to_owned(), "me@b".to_owned()])));
        for wrong in ["", "0", "-1", "1001", "ssh:", "ssh:a,,b", "ssh:-oProxyCommand=x", "a,b", "ssh:a b"] {
            assert!(set(wrong).unwrap_err().contains("ssh:driver1,driver2"), "{wrong}");
        }
    }
}
