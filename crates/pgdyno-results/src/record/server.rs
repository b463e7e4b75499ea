//! The server and its nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// What it calls itself: `PostgreSQL 18.1 on x86_64-pc-linux-gnu, …`.
    pub version: String,
    /// `server_version_num`.
    pub version_num: u32,
    /// How it was reached or made: `private, from /usr/lib/postgresql/15/bin`, `given`.
    pub origin: String,
    /// Whether it runs on the driver's machine, as far as that can be told.
    pub local: bool,
    /// TLS version and cipher of the clients' connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
    /// Settings that bear on the figures, as the server shows them.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// All settings that are not at their default, as the server shows them; none that could hold a secret.
    #[serde(default)]
    pub settings_changed: BTreeMap<String, String>,
    /// Size of the database before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_bytes: Option<u64>,
    /// Size of the database after the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_bytes_after: Option<u64>,
    /// Size of each of the workload's tables, with its indexes, before and after the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<GrowthRecord>,
    /// Whether a standby must confirm each commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronous_standbys: Option<u64>,
    /// The nodes, where the server spreads tables over nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterRecord>,
}

/// The nodes of a server that spreads tables over nodes (Citus).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterRecord {
    /// Its size in one word: `c4+2w8` is a coordinator of 4 CPUs and two workers of 8; `?` where they are not known.
    pub label: String,
    /// The version of Citus.
    pub version: String,
    /// Every node, the coordinator first.
    pub nodes: Vec<NodeRecord>,
    /// Whether calls are sent to the node of their rows, as a probe before the run showed; absent where there was nothing
    /// to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegated: Option<bool>,
    /// The same in words: what was tried and seen, or why not.
    pub delegation: String,
    /// Warehouses of the fullest node over the mean of those that should hold any; absent where none is distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRecord {
    /// `host:port`, as the nodes know it.
    pub name: String,
    /// Processors of its machine, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Warehouses, or units of another scale, whose rows it holds; absent where none is distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warehouses: Option<u64>,
}

/// How a table grew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowthRecord {
    /// Its name.
    pub name: String,
    /// Table and indexes before the run.
    pub bytes_before: u64,
    /// Table and indexes after the run; absent where nobody could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_after: Option<u64>,
}
