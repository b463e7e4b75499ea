//! Figures by stage and group of clients.

use serde::{Deserialize, Serialize};

use super::{StatementRecord, Summary, TransactionRecord};

/// One stage of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Its name.
    pub name: String,
    /// Its groups of clients.
    pub groups: Vec<GroupRecord>,
}

/// What one group of clients did in the measured window of its stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupRecord {
    /// Its name.
    pub name: String,
    /// How many clients it has.
    pub clients: u32,
    /// Its figures, as far as they are known by group.
    pub summary: Summary,
    /// By kind of transaction, those that it has begun or passed over.
    pub transactions: Vec<TransactionRecord>,
    /// By statement, those that it has executed.
    pub statements: Vec<StatementRecord>,
}
