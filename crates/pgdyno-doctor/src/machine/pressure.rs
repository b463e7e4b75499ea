//! Time that tasks waited for CPUs, memory or disks. Source: the kernel's documentation of PSI.

use super::files::Files;
use crate::finding::Finding;

/// What tasks wait for, and the share of the last ten seconds above which it is reported, in percent. For CPUs any waiting task counts,
/// and an idle machine has a little of it.
const RESOURCES: [(&str, f64); 3] = [("cpu", 10.0), ("memory", 1.0), ("io", 10.0)];

pub(super) fn check(files: &Files) -> Option<Finding> {
    let waited = |(name, limit): &(&'static str, f64)| {
        let share = ten_seconds(&files.text(&format!("proc/pressure/{name}"))?)?;
        Some((*name, share, share > *limit))
    };
    let found: Vec<_> = RESOURCES.iter().filter_map(waited).collect();
    if found.is_empty() {
        // The kernel was built or started without it.
        return None;
    }
    let some_high = found.iter().any(|(_, _, high)| *high);
    let shown = found.iter().filter(|(_, _, high)| *high || !some_high);
    let figure: Vec<_> = shown.map(|(name, share, _)| format!("{name} {share:.1} %")).collect();
    let passed = Finding::passed("pressure", format!("{} of the last 10 s", figure.join(", ")));
    if !some_high {
        return Some(passed);
    }
    Some(passed.warning(
        "For this share of the time a task waited for that resource: the machine is short of it before a run begins.",
        "Wait until the machine is idle. For memory, lower shared_buffers or the number of programs.",
    ))
}

/// Returns the share of the last ten seconds in which some task waited, in percent.
fn ten_seconds(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|field| field.strip_prefix("avg10="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::files::Made;
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn each_resource_has_its_limit() {
        let line = |share: &str| format!("some avg10={share} avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00\n");
        let made = |cpu: &str, memory: &str| {
            let (cpu, memory) = (line(cpu), line(memory));
            Made::of(&[("proc/pressure/cpu", &cpu), ("proc/pressure/memory", &memory)])
        };
        assert_eq!(severity(&check(&made("9.00", "0.50").files())), FindingSeverity::Passed);
        let short = check(&made("9.00", "2.50").files());
        assert_eq!(severity(&short), FindingSeverity::Warning);
        assert_eq!(short.unwrap().figure, "memory 2.5 % of the last 10 s");
        assert_eq!(check(&Made::of(&[]).files()), None);
    }
}
