//! `pg_stat_checkpointer`; before PostgreSQL 17 what `pg_stat_bgwriter` tells of checkpoints.
//!
//! A checkpoint counts there when it begins or, from PostgreSQL 18 on, when it is done. That it is done is seen on all versions
//! by its position in the WAL, which the control file then has.

crate::source! { "checkpointer":
    /// Checkpoints that were due by time.
    NUM_TIMED = counter("num_timed", Count).as_sql("checkpoints_timed").then(17, "num_timed");
    /// Checkpoints that were requested, by WAL or by order.
    NUM_REQUESTED = counter("num_requested", Count).as_sql("checkpoints_req").then(17, "num_requested");
    /// Checkpoints that were completed.
    NUM_DONE = counter("num_done", Count).since(18);
    /// Time of writing buffers, reported when a checkpoint is complete.
    WRITE_TIME_MS = counter("write_time_ms", Milliseconds).as_sql("checkpoint_write_time").then(17, "write_time");
    /// Time of syncing files.
    SYNC_TIME_MS = counter("sync_time_ms", Milliseconds).as_sql("checkpoint_sync_time").then(17, "sync_time");
    /// Buffers that checkpoints wrote.
    BUFFERS_WRITTEN = counter("buffers_written", Count).as_sql("buffers_checkpoint").then(17, "buffers_written");
    /// SLRU buffers that checkpoints wrote.
    SLRU_WRITTEN = counter("slru_written", Count).since(18);
    /// Where the last complete checkpoint began in the WAL.
    REDO_LSN_BYTES = gauge("redo_lsn_bytes", Bytes).as_sql("pg_wal_lsn_diff(redo_lsn, '0/0')");
    /// When the counters were set to zero.
    STATS_RESET = reset("stats_reset");
}
