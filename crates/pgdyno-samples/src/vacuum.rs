//! `pg_stat_progress_vacuum`: the vacuums of this database that are under way.

crate::source! { "vacuum":
    /// The schema.
    SCHEMA = key("schema").as_sql("nspname");
    /// The table.
    TABLE = key("table").as_sql("relname");
    /// `true` for autovacuum's, else `false`.
    AUTOVACUUM = text("autovacuum").as_sql(
        "CASE WHEN EXISTS (SELECT FROM pg_stat_get_activity(v.pid) a WHERE a.backend_type = 'autovacuum worker') \
         THEN 'true' ELSE 'false' END"
    );
    /// The phase.
    PHASE = text("phase");
    /// Blocks of the table.
    HEAP_BLKS_TOTAL = gauge("heap_blks_total", Count);
    /// Blocks that are scanned.
    HEAP_BLKS_SCANNED = gauge("heap_blks_scanned", Count);
}
