//! Steps on the server around a run.

use serde::{Deserialize, Serialize};

/// Steps on the server around a run, in addition to the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Cycle {
    /// Restart the server before the data is loaded, which empties its caches.
    pub restart: bool,
    /// Drop the server's files from its operating system's cache, after the restart.
    pub drop_caches: bool,
    /// Read the workload's tables and indexes into the caches before the warm-up (`pg_prewarm`).
    pub prewarm: bool,
    /// CHECKPOINT before the warm-up.
    pub checkpoint: bool,
    /// Provision the target before the run, and tear it down after it.
    pub provision: bool,
}

impl Cycle {
    /// Returns true if there are no steps.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
