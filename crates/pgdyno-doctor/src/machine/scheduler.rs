//! How the kernel divides CPU time. Source: sched(7).

use super::files::Files;
use crate::finding::Finding;

pub(super) fn check(files: &Files) -> Option<Finding> {
    let grouped = files.number("proc/sys/kernel/sched_autogroup_enabled")?;
    let found = Finding::passed("scheduler", if grouped == 1 { "autogroup on" } else { "autogroup off" });
    if grouped != 1 {
        return Some(found);
    }
    Some(found.note(
        "CPU time is divided between sessions first: on one machine a driver in a terminal and a server started by another session get \
         half each, however many processes they have, and nice has no effect between them.",
        "For runs that need all CPUs: sysctl kernel.sched_autogroup_enabled=0.",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::files::Made;
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn autogroup_is_a_note() {
        let of = |value| severity(&check(&Made::of(&[("proc/sys/kernel/sched_autogroup_enabled", value)]).files()));
        assert_eq!([of("1\n"), of("0\n")], [FindingSeverity::Note, FindingSeverity::Passed]);
    }
}
