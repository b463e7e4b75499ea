//! Sessions queue to extend the same table.

use pgdyno_results::FindingRecord;

use super::waited;
use crate::facts::Facts;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let what = "waiting to extend a table or index that others extend";
    let mut found = waited(facts, "extension", Class::Extension, what)?;
    // From 16 on a table grows by many pages at once.
    let is_old = facts.record.server.as_ref().is_some_and(|server| server.version_num < 160_000);
    let newer = if is_old { ", or use PostgreSQL 16 or later" } else { "" };
    found.advice = Some(format!("partition the tables that grow{newer}"));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn queues_for_extension_are_reported() {
        let mut run = Run::new().waits(&[("Lock", "extend", 1.0)]);
        run.record.server.as_mut().unwrap().version_num = 150_000;
        assert!(run.finds(look).advice.unwrap().contains("PostgreSQL 16"));
        run.record.server.as_mut().unwrap().version_num = 180_000;
        assert!(!run.finds(look).advice.unwrap().contains("PostgreSQL 16"));
    }

    #[test]
    fn other_locks_are_no_extension() {
        Run::new().waits(&[("Lock", "relation", 6.0), ("IO", "DataFileExtend", 2.0)]).finds_nothing(look);
    }
}
