//! `pg_stat_bgwriter`, but for what it tells of checkpoints before PostgreSQL 17.

use super::source::{Column, Every, From, STATS_RESET, Source, counter, names};

const COLUMNS: [Column; 6] = [
    counter("buffers_clean"),
    counter("maxwritten_clean"),
    counter("buffers_alloc"),
    counter("buffers_backend").until(17),
    counter("buffers_backend_fsync").until(17),
    STATS_RESET,
];

pub(super) const SOURCE: Source = Source {
    name: "bgwriter",
    every: Every::Second,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |_| From::Sql("pg_stat_bgwriter"),
};
