//! Sessions that wait for locks, by lock.

crate::source! { "locks":
    /// Type of the lock: `relation`, `transactionid`, `tuple`, ….
    LOCKTYPE = key("locktype");
    /// Lock mode that the sessions wait for.
    MODE = key("mode");
    /// Relation, where the lock is on one.
    RELATION = key("relation").as_sql("relation::regclass AS relation");
    /// Sessions that wait.
    WAITING = gauge("waiting", Count).as_sql("count(*)");
    /// Longest wait so far.
    LONGEST_WAIT_S = gauge("longest_wait_s", Seconds)
        .as_sql("extract(epoch FROM max(clock_timestamp() - waitstart))").since(14);
}
