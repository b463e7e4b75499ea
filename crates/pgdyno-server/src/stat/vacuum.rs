//! `pg_stat_progress_vacuum`: the vacuums of this database that are under way.

use super::source::{Column, Every, From, Source, names, value};

const COLUMNS: [Column; 6] = [
    value("schema").as_sql("nspname"),
    value("table").as_sql("relname"),
    value("autovacuum").as_sql(
        "CASE WHEN EXISTS (SELECT FROM pg_stat_get_activity(v.pid) a WHERE a.backend_type = 'autovacuum worker') \
         THEN 'true' ELSE 'false' END",
    ),
    value("phase"),
    value("heap_blks_total"),
    value("heap_blks_scanned"),
];

pub(super) const SOURCE: Source = Source {
    name: "vacuum",
    every: Every::Second,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |_| {
        From::Sql(
            "pg_stat_progress_vacuum v JOIN pg_class c ON c.oid = v.relid JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE v.datname = current_database()",
        )
    },
};
