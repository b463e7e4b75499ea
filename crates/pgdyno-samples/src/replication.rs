//! `pg_stat_replication`: one row per standby.

crate::source! { "replication":
    /// Name of the standby.
    APPLICATION_NAME = key("application_name");
    /// State of its WAL sender.
    STATE = text("state");
    /// Whether commits wait for it: `async`, `potential`, `sync`, `quorum`.
    SYNC_STATE = text("sync_state");
    /// Time from flushing WAL on the primary to writing it on the standby.
    WRITE_LAG_S = gauge("write_lag_s", Seconds).as_sql("extract(epoch FROM write_lag)");
    /// Time from flushing WAL on the primary to flushing it on the standby.
    FLUSH_LAG_S = gauge("flush_lag_s", Seconds).as_sql("extract(epoch FROM flush_lag)");
    /// Time from flushing WAL on the primary to replaying it on the standby.
    REPLAY_LAG_S = gauge("replay_lag_s", Seconds).as_sql("extract(epoch FROM replay_lag)");
    /// WAL that the primary has and the standby has not replayed.
    LAG_BYTES = gauge("lag_bytes", Bytes).as_sql(
        "pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, \
         replay_lsn)"
    );
}
