//! Figures of a target and its readers, to which clients send what only reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EndpointRecord, LatencyRecord, PlaceRecord};

/// The target and its readers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadersRecord {
    /// The transactions that go to readers.
    pub transactions: Vec<String>,
    /// The work of the target in the measured window.
    pub target: EndpointFigures,
    /// The readers, in the order in which they were given.
    pub readers: Vec<ReaderRecord>,
}

/// The work of one endpoint in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointFigures {
    /// Transactions a second that ended without an error.
    pub tps: f64,
    /// Transactions that ended without an error.
    pub completed: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// The same by class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_by_class: BTreeMap<String, u64>,
    /// Service times; absent if nothing ended without an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_latency_ns: Option<LatencyRecord>,
    /// Connections of clients that were lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connections_lost: u64,
}

/// A reader.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReaderRecord {
    /// Its name in the plan.
    pub name: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: PlaceRecord,
    /// Its version.
    pub version: String,
    /// Connections of clients to it.
    pub clients: u32,
    /// Its work.
    #[serde(flatten)]
    pub figures: EndpointFigures,
    /// How far it was behind the target; absent if that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staleness: Option<StalenessRecord>,
    /// Why that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staleness_unknown: Option<String>,
    /// Queries that replay cancelled there, by kind of conflict, as the reader counts them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conflicts: BTreeMap<String, u64>,
    /// Why they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflicts_unknown: Option<String>,
    /// The servers that it leads to, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointRecord>,
}

/// Times from the commit of markers on the target until a reader has replayed them, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StalenessRecord {
    /// The median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// The maximum.
    pub max_ms: f64,
    /// Number of markers.
    pub markers: u64,
    /// Those of them that were not replayed before the end: their age then counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unseen: u64,
    /// 95th percentile of the time between two looks: by so much the times may be too great.
    pub resolution_ms: f64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
