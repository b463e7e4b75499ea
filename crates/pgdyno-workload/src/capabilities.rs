//! Abilities of the server under test. Workloads ask for abilities, never for a vendor's name.

use serde::{Deserialize, Serialize};

use crate::Cluster;

/// Abilities of the server under test, as probed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// `server_version_num`: 150018, 180006.
    pub server_version_num: u32,
    /// Whether tables can be distributed over nodes (Citus).
    pub distributed_tables: bool,
    /// The nodes, if tables can be distributed.
    pub cluster: Option<Cluster>,
    /// Whether it is a hot standby, which is read-only.
    pub standby: bool,
    /// How to reset `default_transaction_read_only`, if it is on for this role in this database: transactions do not write then
    /// unless they say so.
    pub read_only: Option<String>,
    /// Pooling mode of a pooler between this program and the server, if there is one.
    pub pooling: Option<Pooling>,
}

/// Pooling mode: how long a pooler such as PgBouncer assigns a server connection to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Until the client disconnects.
    Session,
    /// Until the transaction ends: session state is lost then, or belongs to another client.
    Transaction {
        /// Whether prepared statements survive nevertheless.
        prepared: bool,
    },
    /// Until the statement ends: transactions of several statements are impossible.
    Statement,
}

impl Pooling {
    /// Returns PgBouncer's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transaction { .. } => "transaction",
            Self::Statement => "statement",
        }
    }

    /// Returns true if a client keeps its connection to the server.
    #[must_use]
    pub fn keeps_sessions(self) -> bool {
        self == Self::Session
    }
}

impl Capabilities {
    /// Returns the major version: 15, 18.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.server_version_num / 10_000
    }
}

impl Default for Capabilities {
    /// Returns the abilities of PostgreSQL 18 without extensions.
    fn default() -> Self {
        Self {
            server_version_num: 180_000,
            distributed_tables: false,
            cluster: None,
            standby: false,
            read_only: None,
            pooling: None,
        }
    }
}
