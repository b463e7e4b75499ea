//! `pg_stat_io`: who has read and written what, for what purpose. PostgreSQL 16 and newer.

use super::source::{Column, Every, From, Source, counter, names, value};

const COLUMNS: [Column; 17] = [
    value("backend_type"),
    value("object"),
    value("context"),
    counter("reads"),
    counter("read_bytes").as_sql("reads * op_bytes").then(18, "read_bytes"),
    counter("read_time_ms").as_sql("read_time"),
    counter("writes"),
    counter("write_bytes").as_sql("writes * op_bytes").then(18, "write_bytes"),
    counter("write_time_ms").as_sql("write_time"),
    counter("writebacks"),
    counter("extends"),
    counter("extend_bytes").as_sql("extends * op_bytes").then(18, "extend_bytes"),
    counter("hits"),
    counter("evictions"),
    counter("reuses"),
    counter("fsyncs"),
    counter("fsync_time_ms").as_sql("fsync_time"),
];

pub(super) const SOURCE: Source = Source {
    name: "io",
    every: Every::Second,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |scene| match scene.is_at_least(16) {
        // What a row cannot count is NULL in it.
        true => From::Sql(
            "pg_stat_io WHERE coalesce(nullif(reads, 0), nullif(writes, 0), nullif(writebacks, 0), nullif(extends, 0), \
             nullif(hits, 0), nullif(evictions, 0), nullif(reuses, 0), nullif(fsyncs, 0)) IS NOT NULL",
        ),
        false => From::Nothing,
    },
};
