//! The recipe that a run follows.

use serde::{Deserialize, Serialize};

/// A figure that a document published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// The name of the figure as in the summary of a record: `nopm`, `tpm`, `tps`, `qps`, `latency_ms_mean`,
    /// `latency_ms_stddev`, `server_cpu_percent`.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// What the document says about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What a recipe's numbers were scaled to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fitted {
    /// CPUs of the server that the run is for.
    pub vcpus: u32,
    /// Memory of that server that the size of the data is based on.
    pub memory_bytes: u64,
    /// The rule and its result, as text.
    pub rule: String,
}

/// How much a recipe's times were shortened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shortened {
    /// The divisor.
    pub by: f64,
    /// The document's measured window.
    pub time_s: f64,
    /// The document's warm-up.
    pub ramp_s: f64,
}

/// The recipe that a run follows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecipePlan {
    /// Its name: `alloydb/tpcc-full`.
    pub name: String,
    /// The document and its date.
    pub source: String,
    /// The name of the size whose numbers are used: `16vcpu`.
    pub size: String,
    /// The variant of that size, if it has several: `100M`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// The machine of the published figures.
    pub machine: String,
    /// Figures of the document for this size and variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// The share of the data that is to fit in the cache, 0 to 1, if the recipe says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Present if the numbers are not the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fitted>,
    /// Present if the times are not the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened: Option<Shortened>,
    /// Arguments that the user gave instead of the recipe's, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<String>,
}
