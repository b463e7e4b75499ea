//! `pg_stat_wal` (PostgreSQL 14 and newer) and the position in the WAL (all versions).
//!
//! From PostgreSQL 18 on, number and time of writes and syncs come from `pg_stat_io`.

crate::source! { "wal":
    /// Records.
    WAL_RECORDS = counter("wal_records", Count).since(14);
    /// Full-page images.
    WAL_FPI = counter("wal_fpi", Count).since(14);
    /// Bytes of WAL.
    WAL_BYTES = counter("wal_bytes", Bytes).since(14);
    /// Writes of WAL because its buffers were full.
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
    /// Position in the WAL; on a standby, the position replayed.
    LSN_BYTES = gauge("lsn_bytes", Bytes).as_sql(
        "pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, '0/0')"
    );
    /// Time of the last reset of the counters.
    STATS_RESET = reset("stats_reset").since(14).then(18, "wal.stats_reset");
}
