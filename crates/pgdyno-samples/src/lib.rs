//! The catalogue of samples: every source and column that pgdyno samples from servers and machines.
//!
//! A source is a module and an entry of [`SOURCES`]. Its columns are constants with kind, unit and SQL expression by version.
//! The sampler takes names and expressions from here. Code that reads samples (charts, rules, live panels, pages) names a
//! column by its constant, so that renaming or dropping a column here does not compile there. A test compares
//! docs/results.md with the sources and columns.

mod column;
mod source;

pub mod bgwriter;
pub mod blockers;
pub mod cgroup;
pub mod checkpointer;
pub mod citus;
pub mod database;
pub mod horizon;
pub mod io;
pub mod locks;
pub mod machine;
pub mod processes;
pub mod replication;
pub mod row_locks;
pub mod slru;
pub mod statements;
pub mod tables;
pub mod vacuum;
pub mod waits;
pub mod wal;

pub use column::{ColumnKind, SampleColumn, SampleUnit};
pub use source::SampleSource;
use source::source;

/// Every source.
pub const SOURCES: [SampleSource; 21] = [
    database::SOURCE,
    bgwriter::SOURCE,
    checkpointer::SOURCE,
    wal::SOURCE,
    io::SOURCE,
    waits::SOURCE,
    locks::SOURCE,
    blockers::SOURCE,
    row_locks::SOURCE,
    horizon::SOURCE,
    slru::SOURCE,
    tables::SOURCE,
    vacuum::SOURCE,
    replication::SOURCE,
    citus::SOURCE,
    statements::SOURCE,
    machine::SOURCE,
    machine::OF_DRIVER,
    processes::SOURCE,
    processes::OF_DRIVER,
    cgroup::SOURCE,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_end_in_their_unit() {
        let sources: BTreeSet<_> = SOURCES.iter().map(|source| source.name).collect();
        assert_eq!(sources.len(), SOURCES.len());
        for source in SOURCES {
            let names: BTreeSet<_> = source.columns.iter().map(|column| column.name).collect();
            assert_eq!((names.len(), source.names.len()), (source.columns.len(), source.columns.len()), "{source:?}");
            for (nth, column) in source.columns.iter().enumerate() {
                assert_eq!((source.names[nth], source.place(*column)), (column.name, nth));
                let suffixes = [
                    ("_bytes_per_s", SampleUnit::BytesPerSecond),
                    ("_bytes", SampleUnit::Bytes),
                    ("_ms", SampleUnit::Milliseconds),
                    ("_s", SampleUnit::Seconds),
                    ("cpus", SampleUnit::Cpus),
                    ("_percent", SampleUnit::Percent),
                ];
                let named = suffixes.iter().find(|(suffix, _)| column.name.ends_with(suffix)).map(|(_, unit)| *unit);
                let unit = column.unit().filter(|unit| !matches!(unit, SampleUnit::Count | SampleUnit::Share));
                assert_eq!(named, unit, "{}.{}", source.name, column.name);
            }
        }
    }

    #[test]
    fn the_documentation_lists_every_column() {
        let page = include_str!("../../../docs/results.md");
        for source in SOURCES {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{}`", source.name)));
            let row = row.unwrap_or_else(|| panic!("docs/results.md has no row for {}", source.name));
            for column in source.columns {
                let is_named = row.contains(&format!("`{}`", column.name)) || row.contains("the same of the driver's");
                assert!(is_named, "docs/results.md: {} lacks {}", source.name, column.name);
            }
        }
    }
}
