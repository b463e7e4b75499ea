//! What Citus counts on the node that is asked, its databases added up. Citus 13.1 and newer, with `citus.enable_stat_counters`.

use super::source::{Column, Every, From, Source, counter, names};

const COLUMNS: [Column; 5] = [
    counter("connection_establishment_succeeded").as_sql("sum(connection_establishment_succeeded)"),
    counter("connection_establishment_failed").as_sql("sum(connection_establishment_failed)"),
    counter("connection_reused").as_sql("sum(connection_reused)"),
    counter("query_execution_single_shard").as_sql("sum(query_execution_single_shard)"),
    counter("query_execution_multi_shard").as_sql("sum(query_execution_multi_shard)"),
];

pub(super) const SOURCE: Source = Source {
    name: "citus",
    every: Every::Second,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |scene| match scene.has_citus_counters {
        true => From::Sql("citus_stat_counters"),
        false => From::Nothing,
    },
};
