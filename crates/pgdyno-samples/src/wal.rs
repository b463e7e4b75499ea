//! `pg_stat_wal`, which PostgreSQL has since 14, and the position in the WAL, which all have.
//!
//! How often WAL was written and synced, and how long that took, stands in `pg_stat_io` from PostgreSQL 18 on.

crate::source! { "wal":
    /// Records.
    WAL_RECORDS = counter("wal_records", Count).since(14);
    /// Full-page images.
    WAL_FPI = counter("wal_fpi", Count).since(14);
    /// Bytes of WAL.
    WAL_BYTES = counter("wal_bytes", Bytes).since(14);
    /// How often WAL was written because its buffers were full.
    WAL_BUFFERS_FULL = counter("wal_buffers_full", Count).since(14);
    /// Writes.
    WAL_WRITE = counter("wal_write", Count).since(14).then(18, "io.writes");
    /// Syncs.
    WAL_SYNC = counter("wal_sync", Count).since(14).then(18, "io.fsyncs");
    /// Time of writing, with `track_wal_io_timing`.
    WAL_WRITE_TIME_MS = counter("wal_write_time_ms", Milliseconds)
        .as_sql("wal_write_time").since(14).then(18, "io.write_time");
    /// Time of syncing, with `track_wal_io_timing`.
    WAL_SYNC_TIME_MS = counter("wal_sync_time_ms", Milliseconds)
        .as_sql("wal_sync_time").since(14).then(18, "io.fsync_time");
    /// The position in the WAL; of a standby, what it has replayed.
    LSN_BYTES = gauge("lsn_bytes", Bytes).as_sql(
        "pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, '0/0')"
    );
    /// When the counters were set to zero.
    STATS_RESET = reset("stats_reset").since(14).then(18, "wal.stats_reset");
}
