//! The name of a group of clients in tables.

use pgdyno_results::RunRecord;

/// Returns the name of a group; with its stage, if there are several.
pub(crate) fn group_name(record: &RunRecord, stage: &str, group: &str) -> String {
    if record.stages.len() > 1 { format!("{stage}: {group}") } else { group.to_owned() }
}
