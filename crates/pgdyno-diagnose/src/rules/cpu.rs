//! The server's machine has no CPU left.

use pgdyno_results::FindingRecord;

use super::{by_event, share};
use crate::facts::Facts;
use crate::waits::Class;
use crate::words::{number, percent};

/// A machine that is busier than this has no CPU left: some wait for one.
pub(super) const SATURATED: f64 = 0.9;

/// Where nobody looked at the machine, sessions that wait for nothing for more of the active samples than this are told of.
const MOST: f64 = 0.5;

/// Whether the server's machine has no CPU left; none where nobody looked.
pub(super) fn is_saturated(facts: &Facts<'_>) -> Option<bool> {
    facts.machine.map(|(cpus, busy)| busy >= SATURATED * cpus)
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let share = share(facts, Class::Cpu)?;
    let mut evidence = vec![by_event(facts, Class::Cpu)];
    let most = facts.waits.sessions(Class::Cpu) >= MOST * facts.waits.total();
    let text = match facts.machine {
        Some((cpus, busy)) if is_saturated(facts) == Some(true) => {
            evidence.push(format!("{} of {} CPUs of the server's machine were busy", number(busy), number(cpus)));
            let parts = [("client backends", "client backend"), ("pgdyno", "driver"), ("other programs", "other")];
            let part = |(what, kind): (&str, &str)| Some(format!("{what} {}", number(facts.cpus_of(kind)?)));
            let parts: Vec<_> = parts.into_iter().filter_map(part).collect();
            if !parts.is_empty() {
                evidence.push(format!("of these {}", parts.join(", ")));
            }
            format!(
                "{} {} was spent at work or in the queue for a CPU, and the server's machine had none left",
                percent(share),
                facts.of_what()
            )
        }
        None if most => {
            format!("{} {} was spent at work on a CPU, or in the queue for one", percent(share), facts.of_what())
        }
        _ => return None,
    };
    Some(FindingRecord {
        rule: "cpu".to_owned(),
        text,
        weight: share.min(1.0),
        evidence,
        advice: Some(
            "more or faster CPUs, or less work for each transaction, could be tried; samples/statements.csv has the \
             weightiest statements, where there is pg_stat_statements"
                .to_owned(),
        ),
    })
}

#[cfg(test)]
mod tests {
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
    fn a_machine_without_a_cpu_left_is_told_with_who_had_them() {
        let found = run(1.95).finds(look);
        assert!((found.weight - 0.75).abs() < 1e-9 && found.text.ends_with("had none left"), "{found:?}");
        assert_eq!(
            found.evidence[1..],
            ["1.9 of 2.0 CPUs of the server's machine were busy", "of these client backends 1.5, pgdyno 0.30"]
        );
    }

    #[test]
    fn an_unseen_machine_is_not_called_full() {
        let found = Run::new().waits(&[("CPU", "CPU", 6.0), ("Lock", "tuple", 1.0)]).finds(look);
        assert!(found.text.ends_with("or in the queue for one"), "{found:?}");
    }

    #[test]
    fn cpus_that_are_left_and_other_waits_are_no_such_finding() {
        run(1.2).finds_nothing(look);
        Run::new().waits(&[("CPU", "CPU", 1.0), ("Lock", "tuple", 6.0)]).finds_nothing(look);
        Run::new().gauges("machine", &[("cpus", 2.0), ("busy_cpus", 2.0)]).finds_nothing(look);
    }
}
