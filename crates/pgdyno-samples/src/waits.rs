//! What sessions wait for, by looking at `pg_stat_activity` several times a second.

crate::source! { "waits":
    /// The kind of process; `other session` where it is a client backend that serves none of the run's clients.
    BACKEND_TYPE = key("backend_type");
    /// The type of the wait event; `CPU` where a session waits for nothing.
    WAIT_EVENT_TYPE = key("wait_event_type");
    /// The wait event; `CPU` where a session waits for nothing.
    WAIT_EVENT = key("wait_event");
    /// How often a session was seen so.
    SAMPLES = gauge("samples", Count).as_sql("count(*)");
    /// How often a client's session was seen idle in a transaction, over all rows of that second.
    IN_TRANSACTION = gauge("in_transaction", Count);
    /// The same of sessions that are none of the clients'.
    OTHERS_IN_TRANSACTION = gauge("others_in_transaction", Count);
    /// How often sessions were looked at.
    LOOKS = gauge("looks", Count);
}
