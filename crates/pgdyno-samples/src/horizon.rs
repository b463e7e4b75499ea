//! Holders of the oldest snapshots and transactions. Rows that were deleted or replaced since cannot be removed.

crate::source! { "horizon":
    /// Kind of process as in `waits`, or `prepared transaction`, or `replication slot`.
    HOLDER = key("holder");
    /// Process; of a prepared transaction none.
    PID = key("pid");
    /// `application_name` of a session, identifier of a prepared transaction, name of a slot.
    NAME = key("name");
    /// The oldest transaction that it needs.
    XMIN = key("xmin");
    /// Transactions since then, running ones included.
    AGE = gauge("age", Count);
    /// State of the session; `active` or `inactive` of a slot.
    STATE = text("state");
    /// Time since its transaction began or was prepared.
    HELD_S = gauge("held_s", Seconds);
    /// Its statement, or its last one if it is idle.
    QUERY = statement("query");
}
