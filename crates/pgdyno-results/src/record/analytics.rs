//! Figures of streams of large queries beside transactions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PlaceRecord;

/// Streams of queries, by stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnalyticsRecord {
    /// The table that the transactions make longer; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<GrowingTableRecord>,
    /// The server of the queries, if it is not that of the transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<AnalyticsServerRecord>,
    /// The most dead rows of each table that were sampled, as the server estimates them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dead_rows_max: BTreeMap<String, u64>,
    /// The longest time that a session had held its snapshot or transaction when it was sampled, in seconds: as long, no dead row
    /// of a later transaction can be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_snapshot_s_max: Option<f64>,
    /// Queries whose plans move rows between the nodes of Citus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repartitioned: Vec<String>,
    /// The stages with streams that go on for a time.
    pub stages: Vec<StreamsRecord>,
}

/// A table that grows during the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrowingTableRecord {
    /// Its name.
    pub table: String,
    /// About its rows when the clients began.
    pub rows_before: u64,
    /// About its rows at the end of the last stage.
    pub rows_after: u64,
}

/// The streams of a stage, in its measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamsRecord {
    /// The stage.
    pub stage: String,
    /// The group of the streams.
    pub group: String,
    /// Number of streams.
    pub streams: u32,
    /// Sets of all chosen queries that streams ended.
    pub sets: u64,
    /// Mean time of the streams' first sets in seconds; absent if none ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_set_s: Option<f64>,
    /// Mean time of their last sets that ended; absent unless one of them ended two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_set_s: Option<f64>,
    /// Both ends of the 95 % interval of the streams' queries an hour, by the times of the sets that ended in the window; absent
    /// unless two did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries_per_hour_interval: Option<[f64; 2]>,
    /// By query, in their order.
    pub queries: Vec<QueryRecord>,
    /// Queries that were still running at the end of the window.
    pub unfinished: Vec<UnfinishedRecord>,
    /// How old the data was that queries saw; absent unless they ran on a standby beside transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<FreshnessRecord>,
}

/// The age of the data that queries saw: the time from the acknowledgement of the first commit that a query did not see to
/// its start; 0 if it saw all that had been acknowledged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FreshnessRecord {
    /// Queries whose snapshot is known.
    pub queries: u64,
    /// Those that saw all commits acknowledged before their start.
    pub fresh: u64,
    /// The median of the ages in seconds.
    pub age_s_p50: f64,
    /// 95th percentile.
    pub age_s_p95: f64,
    /// 99th percentile.
    pub age_s_p99: f64,
    /// The maximum.
    pub age_s_max: f64,
}

/// The server of the queries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnalyticsServerRecord {
    /// Where it is.
    pub place: PlaceRecord,
    /// Its version.
    pub version: String,
    /// Settings that decide between old answers and cancelled queries, and what commits wait for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Longest delay of replay that was sampled on it while the clients ran, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_lag_s_max: Option<f64>,
    /// Queries that it cancelled since its statistics began and at the end of the run, by kind of conflict, the difference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conflicts: BTreeMap<String, u64>,
}

/// A query in the measured window: executions that ended in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryRecord {
    /// Its name.
    pub name: String,
    /// Executions that completed.
    pub completed: u64,
    /// Executions that failed, except for the following.
    pub failed: u64,
    /// Executions that a standby cancelled (40001).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: u64,
    /// Executions that took longer than they may (57014).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timed_out: u64,
    /// Median time in seconds; absent if none completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_p50: Option<f64>,
    /// 95th percentile in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_p95: Option<f64>,
    /// Median of the times, each multiplied by the rows of the growing table before the run and divided by those at its
    /// start; absent if the query reads no table that grows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_p50_by_growth: Option<f64>,
    /// Rows of each execution, the mean; absent if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_mean: Option<f64>,
    /// Why it returned nothing, where it did and the reason is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_no_rows: Option<String>,
}

/// A query that did not end in the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnfinishedRecord {
    /// The number of its stream within the stage, from 0.
    pub stream: u32,
    /// The query.
    pub name: String,
    /// How long it had been running at the end of the window, in seconds.
    pub seconds: f64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
