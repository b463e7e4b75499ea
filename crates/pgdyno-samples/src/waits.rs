//! Wait events of sessions, sampled from `pg_stat_activity` several times a second.

crate::source! { "waits":
    /// Kind of process; `other session` for a client backend that serves none of the run's clients.
    BACKEND_TYPE = key("backend_type");
    /// Type of the wait event; `CPU` for a session that does not wait.
    WAIT_EVENT_TYPE = key("wait_event_type");
    /// Wait event; `CPU` for a session that does not wait.
    WAIT_EVENT = key("wait_event");
    /// Active sessions observed in this state, summed over the looks of a second.
    SAMPLES = gauge("samples", Count).as_sql("count(*)");
    /// Sessions of clients observed idle in a transaction, summed over all looks and rows of a second.
    IN_TRANSACTION = gauge("in_transaction", Count);
    /// Sessions of others observed idle in a transaction, summed in the same way.
    OTHERS_IN_TRANSACTION = gauge("others_in_transaction", Count);
    /// Looks at `pg_stat_activity` in this second.
    LOOKS = gauge("looks", Count);
}
