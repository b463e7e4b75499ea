//! Sessions wait for locks on tables and other objects.

use pgdyno_results::FindingRecord;

use super::row_locks::{name_head, where_they_wait};
use super::waited;
use crate::facts::Facts;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let what = "waiting for locks on tables or other objects";
    let mut found = waited(facts, "table-locks", Class::TableLock, what)?;
    let of_class = |kind: &str| !matches!(kind, "transactionid" | "tuple" | "extend");
    found.evidence.extend(where_they_wait(facts, of_class));
    let head = name_head(facts, &mut found);
    let unnamed = "take fewer such locks: LOCK TABLE, ALTER TABLE, VACUUM FULL, advisory locks, NOTIFY";
    found.advice = head.or_else(|| Some(unnamed.to_owned()));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn a_locked_table_is_reported() {
        let columns = ["locktype", "mode", "relation", "waiting", "longest_wait_s"];
        let row = ["relation", "RowExclusiveLock", "pgbench_accounts", "8", "2.5"].map(str::to_owned).to_vec();
        let run = Run::new().waits(&[("Lock", "relation", 6.0)]).table("locks", &columns, &[row]);
        let found = run.finds(look);
        assert!(found.evidence[1].ends_with("on pgbench_accounts; longest wait seen 2.5 s"), "{found:?}");
    }

    #[test]
    fn rows_are_not_tables() {
        Run::new().waits(&[("Lock", "transactionid", 6.0), ("Lock", "extend", 1.0)]).finds_nothing(look);
    }
}
