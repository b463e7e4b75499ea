//! Other programs take CPUs that the server wants.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::{number, percent};

use super::{SAMPLES_MIN, SHARE_MIN, cpu};
use crate::facts::Facts;

/// A smaller share of the machine than this is nothing.
const LEAST_OF_MACHINE: f64 = 0.05;

/// With this share of the machine they are reported also where clients wait for something else: that may take longer because of them.
const MOST_OF_MACHINE: f64 = 0.5;

/// Returns what to do about them.
pub(super) fn advice(facts: &Facts<'_>) -> &'static str {
    let taken = facts.machine.zip(cpu::taken_by_others(facts)).map_or(0.0, |((cpus, _), taken)| taken * cpus);
    match facts.stolen_cpus() > taken / 2.0 {
        true => "use a virtual machine with CPUs of its own (not burstable), or measure at another time",
        false => "give the server a machine of its own, or measure when the machine is idle",
    }
}

/// Returns the share of a full machine that others took, where that is most of it.
pub(super) fn took_most(facts: &Facts<'_>) -> Option<f64> {
    cpu::taken_by_others(facts).filter(|taken| *taken >= MOST_OF_MACHINE)
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let taken = cpu::taken_by_others(facts).filter(|taken| *taken >= LEAST_OF_MACHINE)?;
    let (cpus, _) = facts.machine?;
    let share = facts.account.share(cpu::queue(facts));
    let also_seen = share < SHARE_MIN;
    if facts.waits.looks < SAMPLES_MIN || also_seen && took_most(facts).is_none() {
        return None;
    }
    let stolen = facts.stolen_cpus();
    let of_programs = taken * cpus - stolen;
    let mut evidence = Vec::new();
    // Less is written as 0.00.
    if of_programs >= 0.005 {
        let (taken, all) = (number(of_programs), number(cpus));
        evidence.push(format!("{taken} of {all} CPUs went to programs that are neither the server nor pgdyno"));
    }
    if stolen >= 0.005 {
        evidence.push(format!("{} CPUs were given to other virtual machines", number(stolen)));
    }
    Some(FindingRecord {
        rule: "other-programs".to_owned(),
        text: format!("others took {} of the server's machine while all of its CPUs were busy", percent(taken)),
        // What they took is missing to those who are at work.
        weight: share * taken,
        evidence,
        advice: Some(advice(facts).to_owned()),
        also_seen,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(busy: f64, other: &str) -> Run {
        Run::new()
            .waits(&[("CPU", "CPU", 6.0)])
            .gauges("machine", &[("cpus", 2.0), ("busy_cpus", busy), ("steal_cpus", 0.1)])
            .table("processes", &["kind", "cpus"], &[vec!["other".to_owned(), other.to_owned()]])
    }

    #[test]
    fn what_others_took_is_reported() {
        let found = run(2.0, "0.5").finds(look);
        assert!((found.weight - 0.975 * 0.3).abs() < 1e-9 && found.text.starts_with("others took 30 %"), "{found:?}");
        assert_eq!(found.evidence[1], "0.10 CPUs were given to other virtual machines");
    }

    #[test]
    fn a_machine_whose_cpus_others_have_is_full() {
        let run = Run::new()
            .waits(&[("CPU", "CPU", 1.8)])
            .gauges("machine", &[("cpus", 2.0), ("busy_cpus", 1.3), ("steal_cpus", 0.7)]);
        let found = run.finds(look);
        assert!(found.text.starts_with("others took 35 %"), "{found:?}");
        assert_eq!(found.evidence, ["0.70 CPUs were given to other virtual machines"]);
        assert!(found.advice.unwrap().starts_with("use a virtual machine with CPUs of its own"));
        run.finds_nothing(super::super::load::look);
    }

    #[test]
    fn most_of_the_machine_is_reported_also_where_clients_wait_for_something_else() {
        let found = run(2.0, "1.6").waits(&[("Lock", "tuple", 7.9)]).finds(look);
        assert!(found.also_seen && found.text.starts_with("others took 85 %"), "{found:?}");
    }

    #[test]
    fn a_little_or_from_what_is_left_is_nothing() {
        run(1.5, "0.5").finds_nothing(look);
        run(2.0, "0.0").waits(&[("Lock", "tuple", 6.0)]).finds_nothing(look);
        run(2.0, "0").gauges("machine", &[("cpus", 2.0), ("busy_cpus", 2.0)]).finds_nothing(look);
    }
}
