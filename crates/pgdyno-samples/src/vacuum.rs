//! `pg_stat_progress_vacuum`: running vacuums of this database.

crate::source! { "vacuum":
    /// Schema.
    SCHEMA = key("schema").as_sql("nspname");
    /// Table.
    TABLE = key("table").as_sql("relname");
    /// `true` for a vacuum by autovacuum, else `false`.
    AUTOVACUUM = text("autovacuum").as_sql(
        "CASE WHEN EXISTS (SELECT FROM pg_stat_get_activity(v.pid) a WHERE a.backend_type = 'autovacuum worker') \
         THEN 'true' ELSE 'false' END"
    );
    /// Phase.
    PHASE = text("phase");
    /// Blocks of the table.
    HEAP_BLKS_TOTAL = gauge("heap_blks_total", Count);
    /// Blocks scanned.
    HEAP_BLKS_SCANNED = gauge("heap_blks_scanned", Count);
}
