//! What the server can do, as probed: workloads ask for abilities, never for a vendor's name.

use serde::{Deserialize, Serialize};

use crate::Cluster;

/// Abilities of the server under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// `server_version_num`: 150018, 180006.
    pub server_version_num: u32,
    /// Whether tables can be distributed over nodes (Citus).
    pub distributed_tables: bool,
    /// The nodes, where tables can be distributed.
    pub cluster: Option<Cluster>,
    /// Whether it is a hot standby: it can be read, and not written.
    pub standby: bool,
    /// What a pooler between this program and the server hands out, where there is one.
    pub pooling: Option<Pooling>,
}

/// For how long a pooler such as PgBouncer hands out a connection to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Until the client disconnects.
    Session,
    /// Until the transaction ends: what belongs to a session is gone then, or somebody else's.
    Transaction {
        /// Whether it keeps prepared statements all the same.
        prepared: bool,
    },
    /// Until the statement ends: there are no transactions of several.
    Statement,
}

impl Pooling {
    /// PgBouncer's word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transaction { .. } => "transaction",
            Self::Statement => "statement",
        }
    }

    /// Whether a client has its connection to the server for itself.
    #[must_use]
    pub fn keeps_sessions(self) -> bool {
        self == Self::Session
    }
}

impl Capabilities {
    /// The major version: 15, 18.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.server_version_num / 10_000
    }
}

impl Default for Capabilities {
    /// PostgreSQL 18 without extensions.
    fn default() -> Self {
        Self { server_version_num: 180_000, distributed_tables: false, cluster: None, standby: false, pooling: None }
    }
}
