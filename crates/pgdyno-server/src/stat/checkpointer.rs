//! `pg_stat_checkpointer`; before PostgreSQL 17 what `pg_stat_bgwriter` tells of checkpoints.
//!
//! A checkpoint counts there when it begins or, from PostgreSQL 18 on, when it is done. That it is done is seen on all versions
//! by its position in the WAL, which the control file then has.

use super::source::{Column, Every, From, STATS_RESET, Source, counter, names, value};

const COLUMNS: [Column; 9] = [
    counter("num_timed").as_sql("checkpoints_timed").then(17, "num_timed"),
    counter("num_requested").as_sql("checkpoints_req").then(17, "num_requested"),
    counter("num_done").since(18),
    counter("write_time_ms").as_sql("checkpoint_write_time").then(17, "write_time"),
    counter("sync_time_ms").as_sql("checkpoint_sync_time").then(17, "sync_time"),
    counter("buffers_written").as_sql("buffers_checkpoint").then(17, "buffers_written"),
    counter("slru_written").since(18),
    value("redo_lsn_bytes").as_sql("pg_wal_lsn_diff(redo_lsn, '0/0')"),
    STATS_RESET,
];

pub(super) const SOURCE: Source = Source {
    name: "checkpointer",
    every: Every::Second,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |scene| {
        From::Sql(match scene.is_at_least(17) {
            true => "pg_stat_checkpointer, pg_control_checkpoint()",
            false => "pg_stat_bgwriter, pg_control_checkpoint()",
        })
    },
};
