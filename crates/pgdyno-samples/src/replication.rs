//! What `pg_stat_replication` shows of each standby.

crate::source! { "replication":
    /// The name of the standby.
    APPLICATION_NAME = key("application_name");
    /// The state of its WAL sender.
    STATE = text("state");
    /// Whether commits wait for it.
    SYNC_STATE = text("sync_state");
    /// Time from WAL being flushed here to its being written there.
    WRITE_LAG_S = gauge("write_lag_s", Seconds).as_sql("extract(epoch FROM write_lag)");
    /// Time from WAL being flushed here to its being flushed there.
    FLUSH_LAG_S = gauge("flush_lag_s", Seconds).as_sql("extract(epoch FROM flush_lag)");
    /// Time from WAL being flushed here to its being replayed there.
    REPLAY_LAG_S = gauge("replay_lag_s", Seconds).as_sql("extract(epoch FROM replay_lag)");
    /// WAL from the position here to the one that was replayed there.
    LAG_BYTES = gauge("lag_bytes", Bytes).as_sql(
        "pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, \
         replay_lsn)"
    );
}
