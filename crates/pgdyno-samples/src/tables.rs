//! `pg_stat_user_tables`, blocks of `pg_statio_user_tables`, and the sizes of tables and their indexes.

crate::source! { "tables":
    /// Schema.
    SCHEMA = key("schema").as_sql("schemaname");
    /// Table.
    TABLE = key("table").as_sql("relname");
    /// Live rows, as the server estimates them.
    N_LIVE_TUP = gauge("n_live_tup", Count);
    /// Dead rows, as the server estimates them.
    N_DEAD_TUP = gauge("n_dead_tup", Count);
    /// Rows inserted.
    N_TUP_INS = counter("n_tup_ins", Count);
    /// Rows updated.
    N_TUP_UPD = counter("n_tup_upd", Count);
    /// Rows updated whose new version is on the same page and in no index (HOT).
    N_TUP_HOT_UPD = counter("n_tup_hot_upd", Count);
    /// Rows deleted.
    N_TUP_DEL = counter("n_tup_del", Count);
    /// Sequential scans.
    SEQ_SCAN = counter("seq_scan", Count);
    /// Rows that sequential scans read.
    SEQ_TUP_READ = counter("seq_tup_read", Count);
    /// Blocks of the table that were not in shared buffers (`pg_statio_user_tables`).
    HEAP_BLKS_READ = counter("heap_blks_read", Count)
        .as_sql("pg_stat_get_blocks_fetched(relid) - pg_stat_get_blocks_hit(relid)");
    /// Index scans.
    IDX_SCAN = counter("idx_scan", Count);
    /// Vacuums by command.
    VACUUM_COUNT = counter("vacuum_count", Count);
    /// Vacuums by autovacuum.
    AUTOVACUUM_COUNT = counter("autovacuum_count", Count);
    /// ANALYZE by command.
    ANALYZE_COUNT = counter("analyze_count", Count);
    /// ANALYZE by autovacuum.
    AUTOANALYZE_COUNT = counter("autoanalyze_count", Count);
    /// Size of the table's main fork.
    HEAP_BYTES = gauge("heap_bytes", Bytes).as_sql("pg_relation_size(relid)");
    /// Size of its indexes.
    INDEX_BYTES = gauge("index_bytes", Bytes).as_sql("pg_indexes_size(relid)");
}
