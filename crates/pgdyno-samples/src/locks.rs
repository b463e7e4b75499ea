//! Sessions that wait for locks, by lock.

crate::source! { "locks":
    /// The type of the lock: `relation`, `transactionid`, `tuple`, ….
    LOCKTYPE = key("locktype");
    /// The mode that is wanted.
    MODE = key("mode");
    /// The relation, where the lock is on one.
    RELATION = key("relation").as_sql("relation::regclass AS relation");
    /// Sessions that wait.
    WAITING = gauge("waiting", Count).as_sql("count(*)");
    /// How long the one that has waited longest has waited.
    LONGEST_WAIT_S = gauge("longest_wait_s", Seconds)
        .as_sql("extract(epoch FROM max(clock_timestamp() - waitstart))").since(14);
}
