//! The server and its nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerRecord {
    /// Its own version string: `PostgreSQL 18.1 on x86_64-pc-linux-gnu, …`.
    pub version: String,
    /// `server_version_num`.
    pub version_num: u32,
    /// Its origin: `private, from /usr/lib/postgresql/15/bin`, `given`.
    pub origin: String,
    /// Its build, if known: only superusers may ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildRecord>,
    /// Place, database and role of the clients' connections; absent in records of pgdyno 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceRecord>,
    /// Whether it runs on the driver's machine, as far as known.
    pub local: bool,
    /// Whether it is a standby.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standby: bool,
    /// Pooling mode of a pooler between driver and server: `session` or `transaction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooling: Option<String>,
    /// The servers that the clients were on, if pgdyno's own sessions were not all on the same one: figures of the server are
    /// left out then. Absent otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointRecord>,
    /// TLS version and cipher of the clients' connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
    /// Settings that matter to the figures, as the server shows them.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// All settings that differ from their default, as the server shows them, without those that could hold a secret.
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
    /// The nodes, if the server distributes tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterRecord>,
}

impl ServerRecord {
    /// The beginning of the origin of a server that pgdyno started.
    pub const PRIVATE: &str = "private";

    /// Returns true if pgdyno started it.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.origin.starts_with(Self::PRIVATE)
    }
}

/// A server that clients were on, of several that the target leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointRecord {
    /// Its own address and port; absent for a socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// When it was started.
    pub started: String,
    /// Whether it is a standby.
    pub standby: bool,
    /// Connections of clients at the start.
    pub clients: u32,
}

/// A build of PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildRecord {
    /// The directory of its programs.
    pub bindir: String,
    /// The options of `configure`, as `pg_config --configure` prints them.
    pub configure: String,
}

/// Place of the clients' connections. Never a password.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceRecord {
    /// Name or address of the host, or the directory of the server's socket.
    pub host: String,
    /// The port, also of a socket.
    pub port: u16,
    /// The database.
    pub database: String,
    /// The role.
    pub user: String,
    /// Whether it is a standby, which is read-only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standby: bool,
}

/// `database bench, user ann, host db1, port 5432`.
impl std::fmt::Display for PlaceRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port, database, user, standby } = self;
        let what = if host.starts_with(['/', '@']) { "socket in" } else { "host" };
        let standby = if *standby { ", a standby" } else { "" };
        write!(f, "database {database}, user {user}, {what} {host}, port {port}{standby}")
    }
}

/// The nodes of a server that distributes tables (Citus).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClusterRecord {
    /// Its size in one word: `c4+2w8` is a coordinator of 4 CPUs and two workers of 8; `?` if unknown.
    pub label: String,
    /// The version of Citus.
    pub version: String,
    /// Every node, the coordinator first.
    pub nodes: Vec<NodeRecord>,
    /// Whether calls are routed to the node of their rows, by a probe before the run; absent without routines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegated: Option<bool>,
    /// The probe and its result in words.
    pub delegation: String,
    /// What the nodes hold, if it is not the units of the scale: `shards` of the largest table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Warehouses, or other units, of the fullest node over the mean of all data nodes; absent if no table is distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeRecord {
    /// `host:port`, as the nodes know it.
    pub name: String,
    /// CPUs of its machine, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Warehouses whose rows it holds, or as many of another unit: [`ClusterRecord::unit`]; absent if no table is
    /// distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warehouses: Option<u64>,
}

/// Growth of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrowthRecord {
    /// Its name.
    pub name: String,
    /// Table and indexes before the run.
    pub bytes_before: u64,
    /// Table and indexes after the run; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_after: Option<u64>,
}
