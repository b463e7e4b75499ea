//! `citus_stat_counters` of the server that the sampler asks, summed over databases. Citus 13.1 and newer, with
//! `citus.enable_stat_counters`.

crate::source! { "citus":
    /// Connections made to other nodes.
    CONNECTION_ESTABLISHMENT_SUCCEEDED = counter("connection_establishment_succeeded", Count)
        .as_sql("sum(connection_establishment_succeeded)");
    /// Connections to other nodes that failed.
    CONNECTION_ESTABLISHMENT_FAILED = counter("connection_establishment_failed", Count)
        .as_sql("sum(connection_establishment_failed)");
    /// Connections to other nodes reused.
    CONNECTION_REUSED = counter("connection_reused", Count).as_sql("sum(connection_reused)");
    /// Queries that one shard answered.
    QUERY_EXECUTION_SINGLE_SHARD = counter("query_execution_single_shard", Count)
        .as_sql("sum(query_execution_single_shard)");
    /// Queries that several shards answered.
    QUERY_EXECUTION_MULTI_SHARD = counter("query_execution_multi_shard", Count)
        .as_sql("sum(query_execution_multi_shard)");
}
