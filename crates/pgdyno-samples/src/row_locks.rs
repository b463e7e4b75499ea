//! Rows that sessions wait for, of the workload's tables.

crate::source! { "row_locks":
    /// Table of the row.
    RELATION = key("relation");
    /// Its primary key, such as `bid = 1`; NULL where the row could not be read at that moment.
    ROW_KEY = key("row_key");
    /// Sessions that wait for it.
    WAITING = gauge("waiting", Count);
    /// Sessions that wait for any row of the database.
    WAITING_FOR_ANY = gauge("waiting_for_any", Count);
}
