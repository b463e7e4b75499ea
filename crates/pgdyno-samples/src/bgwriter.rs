//! `pg_stat_bgwriter`, but for what it tells of checkpoints before PostgreSQL 17.

crate::source! { "bgwriter":
    /// Buffers that the background writer wrote.
    BUFFERS_CLEAN = counter("buffers_clean", Count);
    /// How often it stopped because it had written too many.
    MAXWRITTEN_CLEAN = counter("maxwritten_clean", Count);
    /// Buffers that were allocated.
    BUFFERS_ALLOC = counter("buffers_alloc", Count);
    /// Buffers that sessions wrote themselves; `io` has these from PostgreSQL 16 on.
    BUFFERS_BACKEND = counter("buffers_backend", Count).until(17);
    /// How often sessions had to sync files themselves.
    BUFFERS_BACKEND_FSYNC = counter("buffers_backend_fsync", Count).until(17);
    /// When the counters were set to zero.
    STATS_RESET = reset("stats_reset");
}
