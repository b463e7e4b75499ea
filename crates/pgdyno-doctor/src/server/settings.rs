//! Settings that are unsafe, that cost time of their own, or that nobody has in production.

use pgdyno_net::{Admin, AdminError};
use pgdyno_server::{MachineFacts, ServerFacts};

use super::ask;
use crate::finding::{Finding, FindingSeverity};

/// A setting with a value that is worth a finding.
struct Rule {
    name: &'static str,
    /// Whether the value, as `SHOW` prints it, is worth it.
    is: fn(&str) -> bool,
    severity: FindingSeverity,
    why: &'static str,
    remedy: &'static str,
}

const OFF: fn(&str) -> bool = |value| value == "off";
const ON: fn(&str) -> bool = |value| value == "on";

const RULES: &[Rule] = &[
    Rule {
        name: "debug_assertions",
        is: ON,
        severity: FindingSeverity::Error,
        why: "The server was built with assertions: it does several times the work, and no figure of it is worth anything.",
        remedy: "Build PostgreSQL without --enable-cassert, and with -O2.",
    },
    Rule {
        name: "fsync",
        is: OFF,
        severity: FindingSeverity::Error,
        why: "Nothing is flushed: a crash of the machine destroys the database, and commits cost less than on any real server.",
        remedy: "Set fsync = on.",
    },
    Rule {
        name: "full_page_writes",
        is: OFF,
        severity: FindingSeverity::Warning,
        why: "A crash of the machine may leave torn pages, and the server writes less WAL than a real one.",
        remedy: "Set full_page_writes = on, unless the file system writes pages of 8 KiB atomically.",
    },
    Rule {
        name: "synchronous_commit",
        is: OFF,
        severity: FindingSeverity::Warning,
        why: "Commits do not wait for the disk: the last ones are lost in a crash, and figures are those of a server that may lose them.",
        remedy: "Set synchronous_commit = on, or say so beside the figure.",
    },
    Rule {
        name: "autovacuum",
        is: OFF,
        severity: FindingSeverity::Warning,
        why: "Dead rows stay: each run is slower than the one before, and statistics grow old.",
        remedy: "Set autovacuum = on.",
    },
    Rule {
        name: "log_statement",
        is: |value| value == "all" || value == "mod",
        severity: FindingSeverity::Warning,
        why: "The server writes statements into its log: that costs CPU and disk, and the log's own lock.",
        remedy: "Set log_statement = none for the time of the measurement.",
    },
    Rule {
        name: "log_min_duration_statement",
        is: |value| value == "0",
        severity: FindingSeverity::Warning,
        why: "The server writes every statement with its time into its log.",
        remedy: "Set log_min_duration_statement = -1, or to a time that few statements take.",
    },
    Rule {
        name: "track_io_timing",
        is: OFF,
        severity: FindingSeverity::Note,
        why: "The time of reads and writes is not known, so that a run cannot say how much they held it back.",
        remedy: "Set track_io_timing = on, where reading the clock is cheap (pg_test_timing).",
    },
    Rule {
        name: "huge_pages_status",
        is: OFF,
        severity: FindingSeverity::Note,
        why: "Large shared buffers in small pages cost memory and CPU time in each process.",
        remedy: "Reserve huge pages (vm.nr_hugepages) and restart; SHOW shared_memory_size_in_huge_pages says how many.",
    },
    Rule {
        name: "max_wal_size",
        is: |value| value == "1GB",
        severity: FindingSeverity::Note,
        why: "At its default a load that writes much requests a checkpoint every few seconds.",
        remedy: "Set max_wal_size so that checkpoints come by time (checkpoint_timeout), such as 16GB.",
    },
    Rule {
        name: "jit",
        is: ON,
        severity: FindingSeverity::Note,
        why: "Queries above jit_above_cost are compiled first, which may take longer than it saves.",
        remedy: "Compare with jit = off (pgdyno ab ... --a jit=on --b jit=off).",
    },
];

pub(super) fn check(admin: &mut Admin, facts: &ServerFacts) -> Result<Vec<Finding>, AdminError> {
    let names: Vec<_> = RULES.iter().map(|rule| format!("'{}'", rule.name)).collect();
    let sql = format!("SELECT name, current_setting(name) FROM pg_settings WHERE name IN ({})", names.join(", "));
    let rows = ask::rows(admin, &sql)?.unwrap_or_default();
    let value = |name: &str| rows.iter().find(|row| ask::text(row, 0) == name).map(|row| ask::text(row, 1));
    let mut found: Vec<_> = RULES.iter().filter_map(|rule| Some(apply(rule, value(rule.name)?))).collect();
    let pages = "SELECT pg_size_bytes(current_setting('shared_buffers'))";
    if let Some(row) = ask::row(admin, pages)? {
        let memory = facts.is_local.then(MachineFacts::look).and_then(|machine| machine.usable_ram_bytes());
        found.push(shared_buffers(ask::number(&row, 0), memory));
    }
    Ok(found)
}

fn apply(rule: &Rule, value: &str) -> Finding {
    let found = Finding::passed(rule.name, value);
    if !(rule.is)(value) {
        return found;
    }
    Finding { severity: rule.severity, why: rule.why.to_owned(), remedy: rule.remedy.to_owned(), ..found }
}

/// Returns the finding about the size of `shared_buffers` on a machine with that much memory, if known.
fn shared_buffers(bytes: f64, memory: Option<u64>) -> Finding {
    let size = pgdyno_text::units::bytes(bytes as u64);
    let found = Finding::passed("shared_buffers", size).measured(bytes, "bytes");
    const DEFAULT: f64 = (128_u64 << 20) as f64;
    let small = match memory {
        Some(memory) => bytes < 0.1 * memory as f64,
        None => bytes <= DEFAULT,
    };
    let large = memory.is_some_and(|memory| bytes > 0.7 * memory as f64);
    if small {
        found.note(
            "The server keeps little of its data in its own memory, and asks the operating system for the rest.",
            "Set shared_buffers to about a quarter of the memory.",
        )
    } else if large {
        found.note(
            "Little memory is left for connections, sorts and the operating system's cache.",
            "Set shared_buffers to a quarter of the memory, 40 % at most.",
        )
    } else {
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_values_are_reported_and_safe_ones_pass() {
        let of = |name: &str, value: &str| apply(RULES.iter().find(|rule| rule.name == name).unwrap(), value).severity;
        assert_eq!([of("fsync", "off"), of("fsync", "on")], [FindingSeverity::Error, FindingSeverity::Passed]);
        assert_eq!(
            [of("log_statement", "ddl"), of("log_statement", "mod")],
            [FindingSeverity::Passed, FindingSeverity::Warning]
        );
        assert_eq!(
            [of("max_wal_size", "1GB"), of("max_wal_size", "16GB")],
            [FindingSeverity::Note, FindingSeverity::Passed]
        );
    }

    #[test]
    fn shared_buffers_are_held_against_the_memory() {
        let of = |mib: f64, memory: Option<u64>| shared_buffers(mib * 1048576.0, memory).severity;
        let eight = Some(8 << 30);
        assert_eq!(
            [128.0, 2048.0, 7000.0].map(|mib| of(mib, eight)),
            [FindingSeverity::Note, FindingSeverity::Passed, FindingSeverity::Note]
        );
        assert_eq!([of(128.0, None), of(1024.0, None)], [FindingSeverity::Note, FindingSeverity::Passed]);
    }
}
