//! `pg_stat_checkpointer`; before PostgreSQL 17 the columns of `pg_stat_bgwriter` about checkpoints.
//!
//! These views count a checkpoint when it begins or, from PostgreSQL 18 on, when it is done. `REDO_LSN_BYTES`, from the control
//! file, changes when a checkpoint is done, on all versions.

crate::source! { "checkpointer":
    /// Checkpoints begun by `checkpoint_timeout`.
    NUM_TIMED = counter("num_timed", Count).as_sql("checkpoints_timed").then(17, "num_timed");
    /// Checkpoints requested: by the amount of WAL or by a command.
    NUM_REQUESTED = counter("num_requested", Count).as_sql("checkpoints_req").then(17, "num_requested");
    /// Checkpoints completed.
    NUM_DONE = counter("num_done", Count).since(18);
    /// Time of writing buffers, reported when a checkpoint is complete.
    WRITE_TIME_MS = counter("write_time_ms", Milliseconds).as_sql("checkpoint_write_time").then(17, "write_time");
    /// Time of syncing files.
    SYNC_TIME_MS = counter("sync_time_ms", Milliseconds).as_sql("checkpoint_sync_time").then(17, "sync_time");
    /// Buffers that checkpoints wrote.
    BUFFERS_WRITTEN = counter("buffers_written", Count).as_sql("buffers_checkpoint").then(17, "buffers_written");
    /// SLRU buffers that checkpoints wrote.
    SLRU_WRITTEN = counter("slru_written", Count).since(18);
    /// Position in the WAL where the last complete checkpoint began.
    REDO_LSN_BYTES = gauge("redo_lsn_bytes", Bytes).as_sql("pg_wal_lsn_diff(redo_lsn, '0/0')");
    /// Time of the last reset of the counters.
    STATS_RESET = reset("stats_reset");
}
