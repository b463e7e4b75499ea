//! How far a run of a fitted workload represents the load that was captured.

use serde::{Deserialize, Serialize};

/// What was captured beside what the run did, statement by statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FidelityRecord {
    /// The captured database.
    pub database: String,
    /// The version of the captured server.
    pub server_version: String,
    /// When the capture began, in UTC.
    pub captured_at: String,
    /// `shared_buffers` of the captured server; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_shared_buffers: Option<String>,
    /// `shared_buffers` of the server of the run; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_shared_buffers: Option<String>,
    /// The percentage of the captured time whose statements are representative.
    pub time_percent: f64,
    /// The same percentage of the captured calls.
    pub calls_percent: f64,
    /// The captured statements, from the one that took most time.
    pub statements: Vec<FidelityStatementRecord>,
}

/// A statement of the capture, and what it did in the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FidelityStatementRecord {
    /// The file of its script.
    pub script: String,
    /// Its text in the capture.
    pub text: String,
    /// Its percentage of the captured time.
    pub time_percent: f64,
    /// Its percentage of the captured calls.
    pub calls_percent: f64,
    /// Whether rows and blocks of a call were within a factor of 2 of the captured ones.
    pub is_representative: bool,
    /// Why `pgdyno fit` left it out; absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// What was captured.
    pub captured: CallRecord,
    /// What the server counted in the measured window; absent if it was not executed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<CallRecord>,
}

/// How often a statement was executed, and what a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallRecord {
    /// Calls a second.
    pub calls_per_s: f64,
    /// Rows returned or changed.
    pub rows_per_call: f64,
    /// Blocks found in shared buffers or read.
    pub blocks_per_call: f64,
    /// Blocks of these that were read into shared buffers, on whose size they depend.
    #[serde(default)]
    pub read_blocks_per_call: f64,
    /// Blocks of temporary files written.
    pub temp_blocks_per_call: f64,
    /// WAL generated, in bytes.
    pub wal_bytes_per_call: f64,
    /// Execution time. Hardware differs: it is no measure of fidelity.
    pub time_ms_per_call: f64,
}

impl FidelityRecord {
    /// Returns the statements that the run does not represent, from the one that took most time.
    pub fn unlike(&self) -> impl Iterator<Item = &FidelityStatementRecord> {
        self.statements.iter().filter(|statement| !statement.is_representative)
    }
}
