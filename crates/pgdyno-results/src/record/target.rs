//! The target as named by the user, and the steps around the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A target that `pgdyno.toml` describes. Never its connection string.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetRecord {
    /// Its name.
    pub name: String,
    /// Its kind, in the user's words: `alloydb`, `self-hosted`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Labels of the user, such as `cluster = c4+2w8`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// CPUs of the database server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcpus: Option<u32>,
    /// Memory of the database server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Price of an hour, in `currency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_hour: Option<f64>,
    /// The currency of the price.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub currency: String,
}

/// One step of the life cycle around the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleRecord {
    /// `provision`, `drop`, `restart`, `drop-caches`, `settings`, `prewarm`, `checkpoint`, `restore-settings`, `teardown`.
    pub step: String,
    /// What was done, and by which means; or why it was not done.
    pub what: String,
    /// Whether it was done.
    pub done: bool,
    /// How long it took.
    pub seconds: f64,
    /// The file in the run directory that holds the output of its command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// A setting that the run changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingRecord {
    /// Its name.
    pub name: String,
    /// The value asked for.
    pub asked: String,
    /// The value in the clients' sessions.
    pub shown: String,
    /// Where it was set: `start` of the private server, `session` of each client, `server` by ALTER SYSTEM, or
    /// `already` if the server had it.
    pub by: String,
    /// The value before, if it was set on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether the value before was restored; absent if that was not necessary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<bool>,
}

/// Cost of the figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostRecord {
    /// The currency.
    pub currency: String,
    /// Price of an hour of the target.
    pub price_per_hour: f64,
    /// Cost of a million committed transactions at the measured rate.
    pub per_million_transactions: f64,
    /// NOPM for each unit of currency an hour, for workloads that have New-Orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nopm_per_price: Option<f64>,
}
