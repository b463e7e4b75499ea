//! CPU time that the hypervisor kept for others.

use pgdyno_text::units;

use super::usage::Usage;
use crate::finding::Finding;

/// A greater share than this shifts figures.
const MUCH: f64 = 0.01;

pub(super) fn check(usage: &Usage) -> Option<Finding> {
    let share = usage.stolen;
    let found =
        Finding::passed("steal", format!("{} of CPU time", units::percent(share))).measured(share * 100.0, "percent");
    if share <= MUCH {
        return Some(found);
    }
    Some(found.warning(
        "The hypervisor gives these CPUs to other machines meanwhile: what this machine can do changes from minute to minute.",
        "Take a machine with CPUs of its own, or measure both sides of a comparison in turns (pgdyno ab).",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn more_than_a_hundredth_is_reported() {
        let usage = |stolen| Usage { cpus: 2, busy: 0.0, stolen, programs: Vec::new() };
        assert_eq!(
            [0.0, 0.005, 0.03].map(|stolen| severity(&check(&usage(stolen)))),
            [FindingSeverity::Passed, FindingSeverity::Passed, FindingSeverity::Warning]
        );
    }
}
