//! Heads of the queues for locks: sessions that others wait for and that wait for no lock themselves.

crate::source! { "blockers":
    /// Process; 0 for a prepared transaction.
    PID = key("pid");
    /// Kind of process as in `waits`, or `prepared transaction`.
    BACKEND_TYPE = key("backend_type");
    /// Its `application_name`; of a prepared transaction its identifier, where there is only one.
    APPLICATION_NAME = text("application_name");
    /// State of the session.
    STATE = text("state");
    /// Time since it has been in this state.
    STATE_S = gauge("state_s", Seconds);
    /// Its statement, or its last one if it is idle.
    QUERY = statement("query");
}
