//! The policy that sets the frequency of the CPUs. Source: the kernel's documentation of cpufreq.

use pgdyno_text::units::plural;

use super::files::Files;
use crate::finding::Finding;

const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn check(files: &Files) -> Option<Finding> {
    let governor = |cpu: &String| files.text(&format!("{CPUS}/{cpu}/cpufreq/scaling_governor"));
    let mut governors: Vec<String> = files.names(CPUS).iter().filter_map(governor).collect();
    governors.sort_unstable();
    let cpus = governors.len();
    governors.dedup();
    if governors.is_empty() {
        // In a virtual machine the host decides.
        return None;
    }
    let names = governors.join(", ");
    let found = Finding::passed("governor", names.clone());
    if governors == ["performance"] {
        return Some(found);
    }
    let found = Finding { figure: format!("{names} on {}", plural(cpus as u64, "CPU")), ..found };
    Some(found.warning(
        "The frequency of the CPUs follows the load, so that the same work takes longer on an idle machine than on a busy one.",
        "Set it to performance: cpupower frequency-set --governor performance.",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::files::Made;
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn only_performance_passes() {
        let made = |governors: &[&str]| {
            let path = |cpu: usize| format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor");
            let paths: Vec<_> = (0..governors.len()).map(path).collect();
            Made::of(&paths.iter().map(String::as_str).zip(governors.iter().copied()).collect::<Vec<_>>())
        };
        assert_eq!(severity(&check(&made(&["performance", "performance"]).files())), FindingSeverity::Passed);
        let mixed = check(&made(&["performance", "powersave\n"]).files());
        assert_eq!(severity(&mixed), FindingSeverity::Warning);
        assert_eq!(mixed.unwrap().figure, "performance, powersave on 2 CPUs");
        assert_eq!(check(&made(&[]).files()), None);
    }
}
