//! Free memory and swap. Source: proc_meminfo(5).

use pgdyno_text::units;

use super::files::Files;
use crate::finding::Finding;

/// Less than this share of the memory free is little.
const LITTLE: f64 = 0.1;

pub(super) fn check(files: &Files) -> Option<Finding> {
    let text = files.text("proc/meminfo")?;
    let bytes = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        value.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    let (total, available) = (bytes("MemTotal")?, bytes("MemAvailable")?);
    let swapped = bytes("SwapTotal").zip(bytes("SwapFree")).map_or(0, |(total, free)| total.saturating_sub(free));
    let mut figure = format!("{} of {} available", units::bytes(available), units::bytes(total));
    if swapped > 0 {
        figure += &format!(", {} in swap", units::bytes(swapped));
    }
    let found = Finding::passed("memory", figure).measured(available as f64, "bytes");
    Some(if (available as f64) < LITTLE * total as f64 {
        found.warning(
            "Little is left for the files of a server: it reads from disk what it would find in memory, or the machine swaps.",
            "End other programs, or take a machine with more memory.",
        )
    } else if swapped > 0 {
        found.note(
            "Something was moved to the swap space: memory was short once, and what is used again comes back slowly.",
            "If it grows during a run, memory is short now: see the run's samples.",
        )
    } else {
        found
    })
}

#[cfg(test)]
mod tests {
    use super::super::files::Made;
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn little_memory_is_a_warning_and_swap_a_note() {
        let of = |available: u64, swap_free: u64| {
            let text = format!(
                "MemTotal: 1000 kB\nMemAvailable: {available} kB\nSwapTotal: 500 kB\nSwapFree: {swap_free} kB\n"
            );
            severity(&check(&Made::of(&[("proc/meminfo", &text)]).files()))
        };
        assert_eq!(
            [of(500, 500), of(500, 400), of(50, 500)],
            [FindingSeverity::Passed, FindingSeverity::Note, FindingSeverity::Warning]
        );
    }
}
