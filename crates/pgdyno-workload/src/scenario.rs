//! Transactions that meet, and a server that crashes: what the committed work of a workload must look like then.
//!
//! A [`Scenario`] is data: steps of named sessions, of which each opens a connection of its own. Whoever carries it out
//! opens one more, which asks and watches. A statement may name values that an earlier one brought: `:name.column`
//! stands for the column of the row that was kept as `name`, as a literal of SQL. The row of a session's statement has
//! a column `tries` beside its own: how often the statement was sent until no serialization failure (SQLSTATE 40001)
//! undid it.

/// Isolation levels, as PostgreSQL tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IsolationLevel {
    /// Each statement sees what was committed before it began. PostgreSQL's read uncommitted is the same.
    ReadCommitted,
    /// The transaction sees what was committed before its first statement.
    RepeatableRead,
    /// As if the transactions ran one after another.
    Serializable,
}

impl IsolationLevel {
    /// Every level, from the weakest on.
    pub const ALL: [Self; 3] = [Self::ReadCommitted, Self::RepeatableRead, Self::Serializable];

    /// As SQL and the server's settings write it: `read committed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }

    /// The level of this name, its words parted by spaces or dashes; `None` where there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace('-', " ");
        if name == "read uncommitted" {
            return Some(Self::ReadCommitted);
        }
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Transactions that meet in a certain order, and what must come of it. It changes data, as a run does, and leaves
/// them as consistent as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The clause where there is one (`3.4.2.1`), else a name.
    pub clause: &'static str,
    /// What must come of it, in words.
    pub title: &'static str,
    /// How it differs from the clause, and why.
    pub remark: Option<&'static str>,
    /// What happens, in this order.
    pub steps: Vec<Step>,
    /// Statements at the very end, however it ended: they undo what no transaction of the workload would have done.
    /// One that names a value which was never kept is left out.
    pub restore: Vec<String>,
}

/// A statement of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Whose it is: `T1`.
    pub session: &'static str,
    /// One statement.
    pub sql: String,
    /// The name under which its row is kept.
    pub keep: Option<&'static str>,
}

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The watcher looks at what is committed; the first row is kept.
    Look {
        /// One query.
        sql: String,
        /// The name of its row.
        keep: &'static str,
    },
    /// A session begins a transaction. Without one, each of its statements is a transaction, which is sent again after
    /// a serialization failure, as a client would do.
    Begin(&'static str),
    /// A statement that ends and waits for no other session.
    Run(Act),
    /// A statement that waits for a lock of another session; the next step comes when that is certain.
    Waits {
        /// The statement.
        act: Act,
        /// Whom it waits for.
        blocker: &'static str,
    },
    /// The statement of a session that waited ends.
    Ends(&'static str),
    /// A session commits.
    Commit(&'static str),
    /// A session rolls back.
    Rollback(&'static str),
    /// The watcher asks whether it is so.
    Holds {
        /// What is to hold, in words.
        what: &'static str,
        /// One query; the first column of its row is true where it holds, the others are told where it does not.
        sql: String,
    },
}

impl Step {
    /// A look that is kept.
    pub fn look(keep: &'static str, sql: impl Into<String>) -> Self {
        Self::Look { sql: sql.into(), keep }
    }

    /// A statement whose row nobody needs.
    pub fn run(session: &'static str, sql: impl Into<String>) -> Self {
        Self::Run(Act { session, sql: sql.into(), keep: None })
    }

    /// A statement whose row is kept.
    pub fn fetch(session: &'static str, sql: impl Into<String>, keep: &'static str) -> Self {
        Self::Run(Act { session, sql: sql.into(), keep: Some(keep) })
    }

    /// A statement that waits for `blocker`, and whose row is kept.
    pub fn waits(session: &'static str, blocker: &'static str, sql: impl Into<String>, keep: &'static str) -> Self {
        Self::Waits { act: Act { session, sql: sql.into(), keep: Some(keep) }, blocker }
    }

    /// What must hold.
    pub fn holds(what: &'static str, sql: impl Into<String>) -> Self {
        Self::Holds { what, sql: sql.into() }
    }
}

/// What must be left of committed transactions when the server is killed while clients are at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durability {
    /// The clause where there is one (`3.5`), else a name.
    pub clause: &'static str,
    /// What must hold, in words.
    pub title: &'static str,
    /// One transaction of a client: `:client.number` is the client's number, from 1. Each commits by itself, and the
    /// first column of its row is a number that no other transaction of the client brings.
    pub transaction: &'static str,
    /// The most clients that it can have.
    pub clients: u32,
    /// A query for the committed transactions that are not there, or not wholly. `:acknowledged.clients` and
    /// `:acknowledged.numbers` are arrays of the same length: who was told that which one is committed.
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
