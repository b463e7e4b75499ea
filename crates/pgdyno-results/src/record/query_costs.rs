//! What a query costs the server beside time.

use serde::{Deserialize, Serialize};

/// Costs of one of the workload's queries, over all of its executions, whatever their parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct QueryCostRecord {
    /// Its name.
    pub query: String,
    /// Bytes that an execution wrote into temporary files, the mean; absent where the server did not count statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temp_bytes_mean: Option<f64>,
    /// Bytes of the blocks that an execution read and that were not in shared buffers, the mean; absent where the server
    /// did not count statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes_mean: Option<f64>,
    /// Largest memory of its processes that was sampled in any execution, in bytes; absent where the server's processes
    /// are not visible on the driver's machine, or every execution was too short for a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes_max: Option<u64>,
}
