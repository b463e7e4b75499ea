//! `pg_stat_io`: reads and writes by kind of process, object and purpose. PostgreSQL 16 and newer.

use crate::SampleColumn;

crate::source! { "io":
    /// Kind of process.
    BACKEND_TYPE = key("backend_type").since(16);
    /// Object read or written: `relation`, `temp relation`, `wal`.
    OBJECT = key("object").since(16);
    /// Purpose: `normal`, `vacuum`, `bulkread`, `bulkwrite`, `init`.
    CONTEXT = key("context").since(16);
    /// Reads.
    READS = counter("reads", Count).since(16);
    /// Bytes read.
    READ_BYTES = counter("read_bytes", Bytes).as_sql("reads * op_bytes").since(16).then(18, "read_bytes");
    /// Time of reading, with `track_io_timing`.
    READ_TIME_MS = counter("read_time_ms", Milliseconds).as_sql("read_time").since(16);
    /// Writes.
    WRITES = counter("writes", Count).since(16);
    /// Bytes written.
    WRITE_BYTES = counter("write_bytes", Bytes).as_sql("writes * op_bytes").since(16).then(18, "write_bytes");
    /// Time of writing, with `track_io_timing`.
    WRITE_TIME_MS = counter("write_time_ms", Milliseconds).as_sql("write_time").since(16);
    /// Blocks that the kernel was asked to write to disk.
    WRITEBACKS = counter("writebacks", Count).since(16);
    /// Extensions of files.
    EXTENDS = counter("extends", Count).since(16);
    /// Bytes by which files were extended.
    EXTEND_BYTES = counter("extend_bytes", Bytes).as_sql("extends * op_bytes").since(16).then(18, "extend_bytes");
    /// Blocks read that were in shared buffers.
    HITS = counter("hits", Count).since(16);
    /// Buffers evicted to make room for other blocks.
    EVICTIONS = counter("evictions", Count).since(16);
    /// Buffers of a ring buffer reused.
    REUSES = counter("reuses", Count).since(16);
    /// Syncs.
    FSYNCS = counter("fsyncs", Count).since(16);
    /// Time of syncing, with `track_io_timing`.
    FSYNC_TIME_MS = counter("fsync_time_ms", Milliseconds).as_sql("fsync_time").since(16);
}

/// The columns that identify a row.
pub const KEYS: [SampleColumn; 3] = [BACKEND_TYPE, OBJECT, CONTEXT];
