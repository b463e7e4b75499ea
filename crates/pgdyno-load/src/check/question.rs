//! Queries of checks, and the progress of running them.

use pgdyno_net::{AdminError, ConnectError};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Check, Expect, RowCount, Screen};

use crate::LoadError;

/// What says nothing about the data: a standby's conflict with recovery, a deadlock, memory or a limit that is used up, a lock that is
/// not available, a query that was cancelled.
const PASSING: [&str; 6] = ["40001", "40P01", "53200", "53400", "55P03", "57014"];

/// Violations shown of each check.
pub(crate) const SHOWN: usize = 5;

/// Differences of the schema that are shown: the parts of a whole table.
pub(crate) const DIFFERENCES_SHOWN: usize = 50;

/// A query, and the result that it must return.
#[derive(Clone, Copy)]
pub(crate) enum Question<'a> {
    /// The number of rows of a table.
    Rows {
        table: &'static str,
        rows: RowCount,
    },
    /// Whether a table has any rows.
    AnyRow {
        table: &'static str,
    },
    Check(&'a Check),
    /// Whether a row shows that one of several checks fails.
    Screen(&'a Screen),
}

impl Question<'_> {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Rows { table, .. } | Self::AnyRow { table } => format!("rows of {table}"),
            Self::Check(check) => check.name.to_owned(),
            Self::Screen(screen) => screen.name.to_owned(),
        }
    }

    /// Returns true if the check is left out when the server refuses its query with this SQLSTATE: the role may not read a table, or
    /// what is in the way has nothing to do with the data, or the server cannot run the query of an answer, which can only be compared
    /// where it can. All other conditions are of the data, and must be checked.
    /// Where the screen of several checks is refused, each is asked.
    pub(crate) fn may_be_refused(&self, code: Option<SqlState>) -> bool {
        match code {
            Some(_) if matches!(self, Self::Screen(_)) => true,
            Some(SqlState::INSUFFICIENT_PRIVILEGE) => true,
            Some(code) if PASSING.contains(&code.as_str()) => true,
            Some(SqlState::FEATURE_NOT_SUPPORTED) => {
                matches!(self, Self::Check(check) if check.expect == Expect::Answer)
            }
            _ => false,
        }
    }
}

/// Progress of the checks, when one more query begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckProgress<'a> {
    /// The check that the query belongs to.
    pub check: &'a str,
    /// Queries that are done.
    pub done: usize,
    /// Number of queries.
    pub total: usize,
    /// Estimated share of the work that is done, 0 to 1.
    pub share: f64,
}

/// The error when the data could not be checked. A failed check is no error.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// No connection could be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The query of a check failed: a table is missing, for example.
    #[error("failed to check {check}: {source}")]
    Failed {
        /// The check.
        check: String,
        /// The server's message.
        source: AdminError,
    },
    /// The schema cannot be compared with the one that was loaded.
    #[error(transparent)]
    Schema(LoadError),
    /// An end was requested.
    #[error("interrupted during check {check}")]
    Interrupted {
        /// The check.
        check: String,
    },
}
