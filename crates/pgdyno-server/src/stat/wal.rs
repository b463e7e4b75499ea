//! `pg_stat_wal`, since PostgreSQL 14, and the WAL position.
//!
//! Since PostgreSQL 18, `pg_stat_io` has the number and times of writes and syncs of WAL.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::wal::SOURCE,
    every: Every::Second,
    loses_rows: false,
    from: |traits| {
        From::Sql(match traits.version / 10_000 {
            ..14 => "pg_is_in_recovery()",
            14..18 => "pg_stat_wal",
            18.. => {
                "pg_stat_wal wal, (SELECT sum(writes) AS writes, sum(fsyncs) AS fsyncs, sum(write_time) AS write_time, \
                 sum(fsync_time) AS fsync_time FROM pg_stat_io WHERE object = 'wal') io"
            }
        })
    },
};
