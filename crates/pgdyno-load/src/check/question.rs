//! What is asked of the data, and how asking fares.

use pgdyno_net::{AdminError, ConnectError};
use pgdyno_workload::{Check, RowCount};

use crate::LoadError;

/// Violations that are shown of each check.
pub(crate) const SHOWN: usize = 5;

/// Differences of the schema that are shown: a whole table's parts.
pub(crate) const DIFFERENCES_SHOWN: usize = 50;

/// What is asked and what it must bring.
pub(crate) enum Question<'a> {
    /// How many rows a table has.
    Rows {
        table: &'static str,
        rows: RowCount,
    },
    /// Whether it has any.
    AnyRow {
        table: &'static str,
    },
    Check(&'a Check),
}

impl Question<'_> {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Rows { table, .. } | Self::AnyRow { table } => format!("rows of {table}"),
            Self::Check(check) => check.name.to_owned(),
        }
    }
}

/// How far the checks are, as one more query begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckProgress<'a> {
    /// The check that the query belongs to.
    pub check: &'a str,
    /// Queries that are done.
    pub done: usize,
    /// All of them.
    pub total: usize,
    /// The share of all the work that is done, estimated, 0 to 1.
    pub share: f64,
}

/// Why the data could not be checked. What is wrong with it is no error.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Not even one connection could be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A check's query failed: a table is missing, say.
    #[error("check {check} cannot be asked: {source}")]
    Failed {
        /// The check.
        check: String,
        /// What the server says.
        source: AdminError,
    },
    /// The schema cannot be held against the one that was loaded.
    #[error(transparent)]
    Schema(LoadError),
    /// The stop flag was set.
    #[error("interrupted during check {check}")]
    Interrupted {
        /// The check.
        check: String,
    },
}
