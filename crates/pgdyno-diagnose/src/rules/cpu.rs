//! The server's machine has no CPU left.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use super::{SAMPLES_MIN, SHARE_MIN, by_event};
use crate::facts::{Facts, Quota};
use crate::waits::Class;

/// A machine that is busier than this has no CPU left: some wait for one.
pub(super) const SATURATED: f64 = 0.9;

/// Without samples of the machine, the least share of active time on a CPU that is a finding.
const MOST: f64 = 0.5;

/// A control group that is stopped in more of its periods than this has no CPU left of its limit.
const THROTTLED: f64 = 0.5;

/// A driver on the server's machine whose threads wait for a CPU for more of their time than this shows that there are too few,
/// although some are idle now and then.
const DELAYED: f64 = 0.15;

/// Returns true if the server has no CPU left: those of its machine are busy, or awaited by the driver beside it, or those of its
/// control group are used up. `None` without samples of machine and group.
pub(crate) fn is_saturated(facts: &Facts<'_>) -> Option<bool> {
    let is_awaited = facts.is_local() && facts.record.client.run_delay >= DELAYED;
    let machine = facts.machine.map(|machine| is_full(machine) || is_awaited);
    let group = facts.quota.map(|quota| is_used_up(&quota));
    machine.into_iter().chain(group).reduce(|a, b| a || b)
}

/// Returns true if a machine with so many CPUs, of which so many are busy, has none left.
fn is_full((cpus, busy): (f64, f64)) -> bool {
    busy >= SATURATED * cpus
}

/// Returns true if a control group has used up its limit.
pub(super) fn is_used_up(quota: &Quota) -> bool {
    quota.throttled >= THROTTLED || quota.used.is_some_and(|used| used >= SATURATED * quota.cpus)
}

/// Returns the share of a full machine that went to others: programs beside server and driver, and other virtual machines.
pub(super) fn taken_by_others(facts: &Facts<'_>) -> Option<f64> {
    let (cpus, _) = facts.machine.filter(|machine| is_full(*machine))?;
    let recorded = facts.record.server_machine.as_ref().and_then(|seen| seen.other_cpus);
    let other = recorded.or_else(|| facts.cpus_of("other"));
    let stolen = Some(facts.stolen_cpus()).filter(|stolen| *stolen > 0.0);
    let taken = other.into_iter().chain(stolen).reduce(|a, b| a + b)?;
    Some((taken / cpus).min(1.0))
}

/// Returns the clients' time that a full machine takes, in sessions: at work, and in the queue for a CPU. A backend that
/// is woken and has no CPU yet looks idle, and so does a driver beside it: on a full machine that is what remains. Nodes on that
/// machine work on its CPUs while a session waits for them.
pub(crate) fn queue(facts: &Facts<'_>) -> f64 {
    let account = &facts.account;
    let beside = if facts.is_local() { account.driver } else { 0.0 };
    let nodes = if facts.shares_its_machine() { facts.waits.sessions(Class::Nodes) } else { 0.0 };
    account.cpu + account.remainder + beside + nodes
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    if facts.waits.looks < SAMPLES_MIN {
        return None;
    }
    let mut evidence = Vec::new();
    if facts.waits.sessions(Class::Cpu) > 0.0 {
        evidence.push(by_event(facts, Class::Cpu));
    }
    let mut advice =
        "use more or faster CPUs, or do less work in each transaction; samples/statements.csv has the statements \
                      that took most, where there is pg_stat_statements"
            .to_owned();
    let quota = facts.quota.filter(is_used_up);
    let (share, text) = match (quota, facts.machine) {
        (Some(quota), _) => {
            let used = quota.used.map_or_else(String::new, |used| format!("{} CPUs used, ", number(used)));
            let limit = number(quota.cpus);
            evidence.push(format!("{used}stopped in {} of the periods of its limit", percent(quota.throttled)));
            advice = format!("raise the CPU limit of the server's container (it is {limit} CPUs); else {advice}");
            let share = facts.account.share(queue(facts));
            let text = format!(
                "{} {} was work on a CPU or the queue for one: the server's control group may use {limit} CPUs",
                percent(share),
                facts.of_what()
            );
            (share, text)
        }
        (None, Some((cpus, busy))) if is_saturated(facts)? => {
            evidence.push(format!("{} of {} CPUs of the server's machine were busy", number(busy), number(cpus)));
            let server = [("client backends", "client backend"), ("other nodes", "other node")];
            let parts = server.into_iter().chain([("pgdyno", "driver"), ("other programs", "other")]);
            let part = |(what, kind): (&str, &str)| Some(format!("{what} {}", number(facts.cpus_of(kind)?)));
            let parts: Vec<_> = parts.filter_map(part).collect();
            if !parts.is_empty() {
                evidence.push(format!("of these {}", parts.join(", ")));
            }
            let share = facts.account.share(queue(facts));
            let why = if is_full((cpus, busy)) {
                "the server's machine had none left".to_owned()
            } else {
                format!("pgdyno's threads beside it waited for one for {}", percent(facts.record.client.run_delay))
            };
            let text = format!("{} {} was work on a CPU or the queue for one: {why}", percent(share), facts.of_what());
            (share, text)
        }
        (None, None) if facts.account.cpu >= MOST * (facts.account.cpu + facts.account.waiting) => {
            let share = facts.account.share(facts.account.cpu);
            (
                share,
                format!("{} {} was work on a CPU of the server, or the queue for one", percent(share), facts.of_what()),
            )
        }
        _ => return None,
    };
    let weight = share * (1.0 - taken_by_others(facts).unwrap_or_default());
    if weight < SHARE_MIN {
        return None;
    }
    let advice = Some(advice);
    Some(FindingRecord {
        rule: "cpu".to_owned(),
        text,
        weight,
        evidence,
        advice,
        also_seen: false,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use pgdyno_results::ClusterRecord;

    use super::*;
    use crate::fixture::Run;

    fn run(busy: f64) -> Run {
        let kinds: Vec<Vec<String>> =
            [["client backend", "1.5"], ["driver", "0.3"]].map(|row| row.map(str::to_owned).to_vec()).into();
        Run::new()
            .waits(&[("CPU", "CPU", 6.0), ("Lock", "tuple", 1.0)])
            .gauges("machine", &[("cpus", 2.0), ("busy_cpus", busy)])
            .table("processes", &["kind", "cpus"], &kinds)
    }

    #[test]
    fn a_machine_without_a_cpu_left_is_reported_with_who_had_them() {
        let found = run(1.95).finds(look);
        // Seven of eight clients wait for nothing, or are not explained; one waits for a row.
        assert!((found.weight - 0.85).abs() < 1e-9 && found.text.ends_with("had none left"), "{found:?}");
        assert_eq!(
            found.evidence[1..],
            ["1.9 of 2.0 CPUs of the server's machine were busy", "of these client backends 1.5, pgdyno 0.30"]
        );
    }

    #[test]
    fn a_limit_of_the_control_group_is_the_machines_size() {
        let columns = ["of", "limit_cpus", "used_cpus", "throttled"];
        let limited = |used: &str, throttled: &str| {
            let row = ["server", "1.500", used, throttled].map(str::to_owned).to_vec();
            run(1.4).gauges("machine", &[("cpus", 64.0), ("busy_cpus", 9.0)]).table("cgroup", &columns, &[row])
        };
        let found = limited("1.490", "0.300").finds(look);
        assert!(found.text.ends_with("the server's control group may use 1.5 CPUs"), "{found:?}");
        assert_eq!(found.evidence[1], "1.5 CPUs used, stopped in 30 % of the periods of its limit");
        assert!(found.advice.unwrap().contains("(it is 1.5 CPUs)"));
        // Where its use is not counted, it is known by its pauses.
        assert_eq!(limited("", "0.900").finds(look).evidence[1], "stopped in 90 % of the periods of its limit");
        limited("0.700", "0.100").finds_nothing(look);
    }

    #[test]
    fn an_unseen_machine_is_not_called_full() {
        let found = Run::new().waits(&[("CPU", "CPU", 6.0), ("Lock", "tuple", 1.0)]).finds(look);
        assert!(found.text.ends_with("or the queue for one"), "{found:?}");
    }

    #[test]
    fn cpus_that_are_left_and_other_waits_are_no_such_finding() {
        run(1.2).finds_nothing(look);
        Run::new().waits(&[("CPU", "CPU", 1.0), ("Lock", "tuple", 6.0)]).finds_nothing(look);
        Run::new().gauges("machine", &[("cpus", 2.0), ("busy_cpus", 2.0)]).finds_nothing(look);
    }

    #[test]
    fn nodes_on_the_full_machine_work_on_its_cpus() {
        let mut cluster = run(1.95).waits(&[("Client", "ClientRead", 7.0)]);
        cluster.record.server.as_mut().unwrap().cluster = Some(ClusterRecord::default());
        assert!((cluster.ask(queue) - 1.5).abs() < 1e-9, "the nodes are elsewhere");
        let kinds = vec![["client backend", "0.5"], ["other node", "1.3"]];
        let kinds: Vec<Vec<String>> = kinds.into_iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        let cluster = cluster.table("processes", &["kind", "cpus"], &kinds);
        assert!((cluster.ask(queue) - 7.8).abs() < 1e-9);
    }

    #[test]
    fn a_driver_on_the_full_machine_waits_for_the_same_cpus() {
        let mut local = run(1.95);
        local.record.server.as_mut().unwrap().local = true;
        assert!((local.finds(look).weight - 0.875).abs() < 1e-9);
    }
}
