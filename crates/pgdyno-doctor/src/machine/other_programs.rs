//! Programs that use the CPUs before anything is measured.

use super::usage::Usage;
use crate::finding::Finding;

/// More CPUs than this in use is more than the rest that an idle machine does.
const MUCH: f64 = 0.1;
/// How many programs are named.
const NAMED: usize = 3;

pub(super) fn check(usage: &Usage) -> Option<Finding> {
    let Usage { cpus, busy, programs, .. } = usage;
    let found = Finding::passed("other-programs", format!("{busy:.2} of {cpus} CPUs in use")).measured(*busy, "cpus");
    if *busy <= MUCH {
        return Some(found);
    }
    let named = programs.iter().filter(|(_, used)| *used >= 0.01).take(NAMED);
    let named: Vec<String> = named.map(|(name, used)| format!("{name} {used:.2}")).collect();
    let figure =
        if named.is_empty() { found.figure.clone() } else { format!("{}: {}", found.figure, named.join(", ")) };
    Some(Finding { figure, ..found }.warning(
        "They take CPU time from the driver, and from a server on this machine, and not always the same.",
        "End them, or wait until they are done. To compare two sides beside them, measure in turns (pgdyno ab).",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn the_largest_are_named() {
        let programs = [("cargo", 0.8), ("rustc", 0.6), ("cron", 0.02), ("sshd", 0.015)];
        let programs = programs.map(|(name, used)| (name.to_owned(), used)).to_vec();
        let busy = check(&Usage { cpus: 2, busy: 1.44, stolen: 0.0, programs: programs.clone() });
        assert_eq!(severity(&busy), FindingSeverity::Warning);
        assert_eq!(busy.unwrap().figure, "1.44 of 2 CPUs in use: cargo 0.80, rustc 0.60, cron 0.02");
        assert_eq!(severity(&check(&Usage { cpus: 2, busy: 0.05, stolen: 0.0, programs })), FindingSeverity::Passed);
    }
}
