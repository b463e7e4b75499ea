//! Transparent huge pages. Source: the kernel's documentation of them; PostgreSQL's of `huge_pages`.

use super::files::Files;
use crate::finding::Finding;

const DIRECTORY: &str = "sys/kernel/mm/transparent_hugepage";

pub(super) fn check(files: &Files) -> Option<Finding> {
    let enabled = files.choice(&format!("{DIRECTORY}/enabled"))?;
    let defrag = files.choice(&format!("{DIRECTORY}/defrag")).unwrap_or_default();
    let found = Finding::passed("transparent-huge-pages", format!("{enabled}, defrag {defrag}"));
    // With these the kernel looks for free memory while a process waits for it.
    let waits = ["always"].contains(&defrag.as_str());
    if enabled != "always" || !waits {
        return Some(found);
    }
    Some(found.note(
        "Processes wait while the kernel moves memory to make huge pages: single stalls in latencies.",
        "On the server's machine use huge_pages, and: echo madvise > /sys/kernel/mm/transparent_hugepage/defrag.",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::files::Made;
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn only_those_that_make_processes_wait_are_reported() {
        let of = |enabled: &str, defrag: &str| {
            let paths = ["enabled", "defrag"].map(|name| format!("{DIRECTORY}/{name}"));
            severity(&check(&Made::of(&[(&paths[0], enabled), (&paths[1], defrag)]).files()))
        };
        assert_eq!(of("[always] madvise never", "[always] defer madvise never"), FindingSeverity::Note);
        assert_eq!(of("[always] madvise never", "always defer [madvise] never"), FindingSeverity::Passed);
        assert_eq!(of("always [madvise] never", "[always] defer madvise never"), FindingSeverity::Passed);
    }
}
