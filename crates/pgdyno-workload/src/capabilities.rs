//! What the server can do, as probed: workloads ask for abilities, never for a vendor's name.

use crate::Cluster;

/// Abilities of the server under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// `server_version_num`: 150018, 180006.
    pub server_version_num: u32,
    /// Whether tables can be distributed over nodes (Citus).
    pub distributed_tables: bool,
    /// The nodes, where tables can be distributed.
    pub cluster: Option<Cluster>,
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
        Self { server_version_num: 180_000, distributed_tables: false, cluster: None }
    }
}
