//! The limit of a container's CPUs.

use pgdyno_server::MachineFacts;

use crate::finding::Finding;

pub(super) fn check(machine: &MachineFacts) -> Option<Finding> {
    let limit = machine.cpu_limit.filter(|limit| *limit < f64::from(machine.cpus))?;
    let found = Finding::passed("cpu-limit", format!("{limit:.1} of {} CPUs", machine.cpus));
    Some(found.measured(limit, "cpus").warning(
        "The kernel stops all processes of the container for the rest of each period once they have used their share: latencies have \
         gaps of tens of milliseconds.",
        "Give the container whole CPUs of its own (cpuset), or no limit.",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn a_limit_below_the_number_of_cpus_is_reported() {
        let machine = |cpu_limit| MachineFacts { cpus: 4, cpu_limit, ..MachineFacts::default() };
        assert_eq!(severity(&check(&machine(Some(1.5)))), FindingSeverity::Warning);
        assert_eq!([Some(4.0), None].map(|limit| check(&machine(limit))), [None, None]);
    }
}
