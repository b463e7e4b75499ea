//! What holds for the table, and counts that client and server must agree on.

use pgdyno_workload::{Check, Expect, ServerCount};

use super::layout::{Layout, MARK};

pub(super) fn checks(layout: &Layout, inserts: bool) -> Vec<Check> {
    let rows = (!inserts).then(|| {
        let sql = "select count(*) as rows from usertable".to_owned();
        Check::expensive("rows", "the number of records stays the same", Expect::UnchangedByRun, sql)
    });
    let fields = layout.has_marks().then(|| {
        let (bytes, end) = (layout.field_bytes, MARK + 1);
        let sql = format!(
            "select ycsb_key, field from {} where left(v, {MARK}) = right(ycsb_key, {MARK}) \
             and (length(v) <> {bytes} or substr(v, {end}, {MARK}) <> right(v, {MARK})) limit 5",
            layout.all_fields()
        );
        Check::expensive("fields", "each field that pgdyno wrote is whole", Expect::NoRow, sql)
    });
    rows.into_iter().chain(fields).collect()
}

/// Returns the count of inserts.
pub(super) fn inserts() -> ServerCount {
    ServerCount {
        counted: "inserts",
        transactions: &["insert"],
        query: "select count(*) from usertable".to_owned(),
        if_different: ServerCount::OTHER_PROGRAM,
    }
}

/// Returns the count of read-modify-writes: the sum of the numbers in all fields.
pub(super) fn read_modify_writes(layout: &Layout) -> ServerCount {
    let number = format!("substr(v, {}, {MARK})", MARK + 1);
    ServerCount {
        counted: "read-modify-writes",
        transactions: &["read-modify-write"],
        query: format!(
            "select coalesce(sum({number}::bigint), 0) from {} \
             where left(v, {MARK}) = right(ycsb_key, {MARK}) and {number} ~ '^[0-9]{{{MARK}}}$'",
            layout.all_fields()
        ),
        if_different: "the others were lost, because another client had written the field between read and update; -D \
                       read-modify-write=transaction locks the row",
    }
}
