//! Figures by stage and group of clients.

use serde::{Deserialize, Serialize};

use super::{StatementRecord, Summary, TransactionRecord};

/// One stage of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRecord {
    /// Its name.
    pub name: String,
    /// Begin and end of its measured window, in seconds since the clients of the first stage began; absent in old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_s: Option<[f64; 2]>,
    /// Its groups of clients.
    pub groups: Vec<GroupRecord>,
}

/// One group of clients in the measured window of its stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupRecord {
    /// Its name.
    pub name: String,
    /// Number of clients.
    pub clients: u32,
    /// Its figures, as far as they are known by group.
    pub summary: Summary,
    /// By kind of transaction, those that it began or skipped.
    pub transactions: Vec<TransactionRecord>,
    /// By statement, those that it executed.
    pub statements: Vec<StatementRecord>,
}
