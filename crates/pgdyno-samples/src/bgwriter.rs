//! `pg_stat_bgwriter`, without the columns about checkpoints that it has before PostgreSQL 17.

crate::source! { "bgwriter":
    /// Buffers that the background writer wrote.
    BUFFERS_CLEAN = counter("buffers_clean", Count);
    /// Rounds that the background writer ended at `bgwriter_lru_maxpages`.
    MAXWRITTEN_CLEAN = counter("maxwritten_clean", Count);
    /// Buffers allocated.
    BUFFERS_ALLOC = counter("buffers_alloc", Count);
    /// Buffers that sessions wrote themselves; `io` has these from PostgreSQL 16 on.
    BUFFERS_BACKEND = counter("buffers_backend", Count).until(17);
    /// Syncs of files that sessions had to do themselves.
    BUFFERS_BACKEND_FSYNC = counter("buffers_backend_fsync", Count).until(17);
    /// Time of the last reset of the counters.
    STATS_RESET = reset("stats_reset");
}
