//! `pg_stat_statements`: cost of the database's statements within the measured window.
//!
//! The expressions read the view; the file holds the growth of the counters.

use crate::SampleColumn;

crate::source! { "statements":
    /// Hash of the statement.
    QUERYID = key("queryid");
    /// Text of the statement.
    QUERY = text("query");
    /// Executions.
    CALLS = counter("calls", Count);
    /// Execution time.
    TOTAL_EXEC_TIME_MS = counter("total_exec_time_ms", Milliseconds).as_sql("total_exec_time");
    /// Mean execution time of a call.
    MEAN_EXEC_TIME_MS = gauge("mean_exec_time_ms", Milliseconds);
    /// Rows returned or changed.
    ROWS = counter("rows", Count);
    /// Blocks read that were in shared buffers.
    SHARED_BLKS_HIT = counter("shared_blks_hit", Count);
    /// Blocks read that were not in shared buffers.
    SHARED_BLKS_READ = counter("shared_blks_read", Count);
    /// Clean blocks that it changed.
    SHARED_BLKS_DIRTIED = counter("shared_blks_dirtied", Count);
    /// Blocks that its sessions wrote to disk themselves.
    SHARED_BLKS_WRITTEN = counter("shared_blks_written", Count);
    /// Blocks of temporary files written.
    TEMP_BLKS_WRITTEN = counter("temp_blks_written", Count);
    /// WAL generated.
    WAL_BYTES = counter("wal_bytes", Bytes);
    /// Time of compiling it (JIT).
    JIT_TIME_MS = counter("jit_time_ms", Milliseconds)
        .as_sql("jit_generation_time + jit_inlining_time + jit_optimization_time + jit_emission_time").since(15);
}

/// The counters of a statement, in the order of the file.
pub const COUNTERS: [SampleColumn; 10] = [
    CALLS,
    TOTAL_EXEC_TIME_MS,
    ROWS,
    SHARED_BLKS_HIT,
    SHARED_BLKS_READ,
    SHARED_BLKS_DIRTIED,
    SHARED_BLKS_WRITTEN,
    TEMP_BLKS_WRITTEN,
    WAL_BYTES,
    JIT_TIME_MS,
];
