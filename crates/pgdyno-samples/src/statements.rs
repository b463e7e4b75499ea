//! `pg_stat_statements`: what the statements of the database cost the server within the measured window.
//!
//! The expressions are those of its view; a file has their growth.

use crate::Column;

crate::source! { "statements":
    /// The hash of the statement.
    QUERYID = key("queryid");
    /// Its text.
    QUERY = text("query");
    /// How often it was executed.
    CALLS = counter("calls", Count);
    /// Time of executing it.
    TOTAL_EXEC_TIME_MS = counter("total_exec_time_ms", Milliseconds).as_sql("total_exec_time");
    /// The same by call.
    MEAN_EXEC_TIME_MS = gauge("mean_exec_time_ms", Milliseconds);
    /// Rows that it returned or changed.
    ROWS = counter("rows", Count);
    /// Blocks that were in shared buffers.
    SHARED_BLKS_HIT = counter("shared_blks_hit", Count);
    /// Blocks that were not.
    SHARED_BLKS_READ = counter("shared_blks_read", Count);
    /// Blocks that it changed first.
    SHARED_BLKS_DIRTIED = counter("shared_blks_dirtied", Count);
    /// Blocks that it wrote out itself.
    SHARED_BLKS_WRITTEN = counter("shared_blks_written", Count);
    /// Blocks of temporary files that it wrote.
    TEMP_BLKS_WRITTEN = counter("temp_blks_written", Count);
    /// WAL that it made.
    WAL_BYTES = counter("wal_bytes", Bytes);
}

/// What the view counts of a statement, in the order of the file.
pub const COUNTERS: [Column; 9] = [
    CALLS,
    TOTAL_EXEC_TIME_MS,
    ROWS,
    SHARED_BLKS_HIT,
    SHARED_BLKS_READ,
    SHARED_BLKS_DIRTIED,
    SHARED_BLKS_WRITTEN,
    TEMP_BLKS_WRITTEN,
    WAL_BYTES,
];
