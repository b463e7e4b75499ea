//! `pg_stat_user_tables`, and how large tables and their indexes are.

use super::source::{Column, Every, From, Source, names, value};

/// A look at one table takes some tens of microseconds.
const MOST: u64 = 500;

const COLUMNS: [Column; 16] = [
    value("schema").as_sql("schemaname"),
    value("table").as_sql("relname"),
    value("n_live_tup"),
    value("n_dead_tup"),
    value("n_tup_ins"),
    value("n_tup_upd"),
    value("n_tup_hot_upd"),
    value("n_tup_del"),
    value("seq_scan"),
    value("idx_scan"),
    value("vacuum_count"),
    value("autovacuum_count"),
    value("analyze_count"),
    value("autoanalyze_count"),
    value("heap_bytes").as_sql("pg_relation_size(relid)"),
    value("index_bytes").as_sql("pg_indexes_size(relid)"),
];

pub(super) const SOURCE: Source = Source {
    name: "tables",
    every: Every::TenSeconds,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |scene| match scene.tables {
        ..=MOST => From::Sql("pg_stat_user_tables"),
        tables => {
            From::LeftOut(format!("the database has {tables} tables: more than {MOST} would take too long to look at"))
        }
    },
};
