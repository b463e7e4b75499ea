//! `pg_stat_wal`, which PostgreSQL has since 14, and the position in the WAL, which all have.
//!
//! How often WAL was written and synced, and how long that took, stands in `pg_stat_io` from PostgreSQL 18 on.

use super::source::{Column, Every, From, Source, counter, names, value};

const POSITION: &str = "pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() \
     ELSE pg_current_wal_lsn() END, '0/0')";

const COLUMNS: [Column; 10] = [
    counter("wal_records").since(14),
    counter("wal_fpi").since(14),
    counter("wal_bytes").since(14),
    counter("wal_buffers_full").since(14),
    counter("wal_write").since(14).then(18, "io.writes"),
    counter("wal_sync").since(14).then(18, "io.fsyncs"),
    counter("wal_write_time_ms").as_sql("wal_write_time").since(14).then(18, "io.write_time"),
    counter("wal_sync_time_ms").as_sql("wal_sync_time").since(14).then(18, "io.fsync_time"),
    value("lsn_bytes").as_sql(POSITION),
    value("stats_reset").since(14).then(18, "wal.stats_reset"),
];

pub(super) const SOURCE: Source = Source {
    name: "wal",
    every: Every::Second,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |scene| {
        From::Sql(match scene.version / 10_000 {
            ..14 => "pg_is_in_recovery()",
            14..18 => "pg_stat_wal",
            18.. => {
                "pg_stat_wal wal, (SELECT sum(writes) AS writes, sum(fsyncs) AS fsyncs, sum(write_time) AS write_time, \
                 sum(fsync_time) AS fsync_time FROM pg_stat_io WHERE object = 'wal') io"
            }
        })
    },
};
