//! `pg_stat_io`: reads and writes by kind of process and purpose. PostgreSQL 16 and newer.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::io::SOURCE,
    every: Every::Second,
    loses_rows: false,
    from: |traits| match traits.is_at_least(16) {
        // A counter that does not apply to a row is NULL.
        true => From::Sql(
            "pg_stat_io WHERE coalesce(nullif(reads, 0), nullif(writes, 0), nullif(writebacks, 0), nullif(extends, 0), \
             nullif(hits, 0), nullif(evictions, 0), nullif(reuses, 0), nullif(fsyncs, 0)) IS NOT NULL",
        ),
        false => From::Nothing,
    },
};
