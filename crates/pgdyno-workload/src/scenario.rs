//! Concurrent transactions and a crash of the server: what the committed work of a workload must look like
//! afterwards.
//!
//! A [`Scenario`] is data: steps of named sessions, each with a connection of its own. One more connection queries
//! and observes. A statement may use values that an earlier one returned: `:name.column` stands for the column of the
//! row kept as `name`, as an SQL literal. The row of a session's statement also has a column `tries`: how often the
//! statement was sent until no serialization failure (SQLSTATE 40001) undid it.

use serde::{Deserialize, Serialize};

/// Isolation levels of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IsolationLevel {
    /// Each statement sees what was committed before it began. PostgreSQL's read uncommitted is the same.
    ReadCommitted,
    /// The transaction sees what was committed before its first statement.
    RepeatableRead,
    /// Transactions behave as if they ran one after another.
    Serializable,
}

impl IsolationLevel {
    /// All levels, weakest first.
    pub const ALL: [Self; 3] = [Self::ReadCommitted, Self::RepeatableRead, Self::Serializable];

    /// Returns its name in SQL and in the server's settings: `read committed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }

    /// Returns the level of this name, its words separated by spaces or dashes; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace('-', " ");
        if name == "read uncommitted" {
            return Some(Self::ReadCommitted);
        }
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Transactions that run concurrently in a certain order, and the expected result. It changes data, as a run does,
/// and leaves it as consistent as before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The clause if there is one (`3.4.2.1`), else a name.
    pub clause: &'static str,
    /// The expected result, in words.
    pub title: &'static str,
    /// Difference from the clause, and the reason.
    pub remark: Option<&'static str>,
    /// The steps, in order.
    pub steps: Vec<ScenarioStep>,
    /// Statements at the end in any case: they undo changes that no transaction of the workload makes. A statement
    /// with a value that was never kept is skipped.
    pub restore: Vec<String>,
}

/// A statement of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Name of the session: `T1`.
    pub session: &'static str,
    /// One statement.
    pub sql: String,
    /// Name under which its row is kept.
    pub keep: Option<&'static str>,
}

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioStep {
    /// The observer queries committed data; the first row is kept.
    Look {
        /// One query.
        sql: String,
        /// Name of its row.
        keep: &'static str,
    },
    /// A session begins a transaction. Without one, each of its statements is a transaction, which is sent again
    /// after a serialization failure, as a client would do.
    Begin(&'static str),
    /// A statement that ends without waiting for another session.
    Run(Act),
    /// A statement that waits for a lock of another session. The next step runs once the wait is certain.
    Waits {
        /// The statement.
        act: Act,
        /// The session that holds the lock.
        blocker: &'static str,
    },
    /// A waiting statement of a session ends.
    Ends(&'static str),
    /// A session commits.
    Commit(&'static str),
    /// A session rolls back.
    Rollback(&'static str),
    /// The observer checks a condition.
    Holds {
        /// The condition, in words.
        what: &'static str,
        /// One query. The first column of its row is true if the condition holds; the other columns are shown if it
        /// does not.
        sql: String,
    },
}

impl ScenarioStep {
    /// Returns a query whose row is kept.
    pub fn look(keep: &'static str, sql: impl Into<String>) -> Self {
        Self::Look { sql: sql.into(), keep }
    }

    /// Returns a statement whose row is not kept.
    pub fn run(session: &'static str, sql: impl Into<String>) -> Self {
        Self::Run(Act { session, sql: sql.into(), keep: None })
    }

    /// Returns a statement whose row is kept.
    pub fn fetch(session: &'static str, sql: impl Into<String>, keep: &'static str) -> Self {
        Self::Run(Act { session, sql: sql.into(), keep: Some(keep) })
    }

    /// Returns a statement that waits for `blocker`, and whose row is kept.
    pub fn waits(session: &'static str, blocker: &'static str, sql: impl Into<String>, keep: &'static str) -> Self {
        Self::Waits { act: Act { session, sql: sql.into(), keep: Some(keep) }, blocker }
    }

    /// Returns a condition.
    pub fn holds(what: &'static str, sql: impl Into<String>) -> Self {
        Self::Holds { what, sql: sql.into() }
    }
}

/// Guarantee for committed transactions when the server is killed while clients are at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durability {
    /// The clause if there is one (`3.5`), else a name.
    pub clause: &'static str,
    /// The guarantee, in words.
    pub title: &'static str,
    /// One transaction of a client; `:client.number` is the client's number, from 1. Each commits by itself, and the
    /// first column of its row is a number that no other transaction of the client returns.
    pub transaction: &'static str,
    /// Largest number of clients.
    pub clients: u32,
    /// A query for committed transactions that are missing or incomplete. `:acknowledged.clients` and
    /// `:acknowledged.numbers` are arrays of the same length: the client and the number of each acknowledged commit.
    pub lost: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_known_by_the_names_that_people_write() {
        for level in IsolationLevel::ALL {
            assert_eq!(IsolationLevel::from_name(level.name()), Some(level));
            assert_eq!(IsolationLevel::from_name(&level.name().replace(' ', "-").to_uppercase()), Some(level));
        }
        assert_eq!(IsolationLevel::from_name("read uncommitted"), Some(IsolationLevel::ReadCommitted));
        assert_eq!(IsolationLevel::from_name("snapshot"), None);
    }
}
