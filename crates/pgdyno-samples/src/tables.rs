//! `pg_stat_user_tables`, and how large tables and their indexes are.

crate::source! { "tables":
    /// The schema.
    SCHEMA = key("schema").as_sql("schemaname");
    /// The table.
    TABLE = key("table").as_sql("relname");
    /// Rows, as the server estimates them.
    N_LIVE_TUP = gauge("n_live_tup", Count);
    /// Dead rows, as the server estimates them.
    N_DEAD_TUP = gauge("n_dead_tup", Count);
    /// Rows that were inserted.
    N_TUP_INS = counter("n_tup_ins", Count);
    /// Rows that were updated.
    N_TUP_UPD = counter("n_tup_upd", Count);
    /// Rows whose new version stayed on its page.
    N_TUP_HOT_UPD = counter("n_tup_hot_upd", Count);
    /// Rows that were deleted.
    N_TUP_DEL = counter("n_tup_del", Count);
    /// Sequential scans.
    SEQ_SCAN = counter("seq_scan", Count);
    /// Index scans.
    IDX_SCAN = counter("idx_scan", Count);
    /// Vacuums by order.
    VACUUM_COUNT = counter("vacuum_count", Count);
    /// Vacuums by autovacuum.
    AUTOVACUUM_COUNT = counter("autovacuum_count", Count);
    /// ANALYZE by order.
    ANALYZE_COUNT = counter("analyze_count", Count);
    /// ANALYZE by autovacuum.
    AUTOANALYZE_COUNT = counter("autoanalyze_count", Count);
    /// The size of the table's main fork.
    HEAP_BYTES = gauge("heap_bytes", Bytes).as_sql("pg_relation_size(relid)");
    /// The size of its indexes.
    INDEX_BYTES = gauge("index_bytes", Bytes).as_sql("pg_indexes_size(relid)");
}
