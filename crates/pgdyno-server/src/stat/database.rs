//! `pg_stat_database` of the database that is measured.

use super::source::{Column, Every, From, STATS_RESET, Source, counter, names, value};

const COLUMNS: [Column; 17] = [
    counter("xact_commit"),
    counter("xact_rollback"),
    counter("blks_read"),
    counter("blks_hit"),
    counter("tup_returned"),
    counter("tup_fetched"),
    counter("tup_inserted"),
    counter("tup_updated"),
    counter("tup_deleted"),
    counter("conflicts"),
    counter("temp_files"),
    counter("temp_bytes"),
    counter("deadlocks"),
    counter("blk_read_time_ms").as_sql("blk_read_time"),
    counter("blk_write_time_ms").as_sql("blk_write_time"),
    value("numbackends"),
    STATS_RESET,
];

pub(super) const SOURCE: Source = Source {
    name: "database",
    every: Every::Second,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |_| From::Sql("pg_stat_database WHERE datname = current_database()"),
};
