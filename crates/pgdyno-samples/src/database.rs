//! `pg_stat_database` of the measured database.

crate::source! { "database":
    /// Transactions committed.
    XACT_COMMIT = counter("xact_commit", Count);
    /// Transactions rolled back.
    XACT_ROLLBACK = counter("xact_rollback", Count);
    /// Blocks read that were not in shared buffers.
    BLKS_READ = counter("blks_read", Count);
    /// Blocks read that were in shared buffers.
    BLKS_HIT = counter("blks_hit", Count);
    /// Rows that scans read.
    TUP_RETURNED = counter("tup_returned", Count);
    /// Rows that index scans fetched.
    TUP_FETCHED = counter("tup_fetched", Count);
    /// Rows inserted.
    TUP_INSERTED = counter("tup_inserted", Count);
    /// Rows updated.
    TUP_UPDATED = counter("tup_updated", Count);
    /// Rows deleted.
    TUP_DELETED = counter("tup_deleted", Count);
    /// Queries that a standby cancelled because they conflicted with recovery.
    CONFLICTS = counter("conflicts", Count);
    /// Temporary files, counted when they are closed.
    TEMP_FILES = counter("temp_files", Count);
    /// Bytes of temporary files.
    TEMP_BYTES = counter("temp_bytes", Bytes);
    /// Deadlocks.
    DEADLOCKS = counter("deadlocks", Count);
    /// Time of reading blocks, with `track_io_timing`.
    BLK_READ_TIME_MS = counter("blk_read_time_ms", Milliseconds).as_sql("blk_read_time");
    /// Time of writing blocks, with `track_io_timing`.
    BLK_WRITE_TIME_MS = counter("blk_write_time_ms", Milliseconds).as_sql("blk_write_time");
    /// Sessions.
    NUMBACKENDS = gauge("numbackends", Count);
    /// Sessions begun.
    SESSIONS = counter("sessions", Count).since(14);
    /// Parallel workers that plans asked for.
    PARALLEL_WORKERS_TO_LAUNCH = counter("parallel_workers_to_launch", Count).since(18);
    /// Parallel workers that were launched.
    PARALLEL_WORKERS_LAUNCHED = counter("parallel_workers_launched", Count).since(18);
    /// Time of the last reset of the counters.
    STATS_RESET = reset("stats_reset");
}
