//! Time limits of a role or database, which are meant for users and would end sessions of pgdyno's own.

use crate::{Admin, AdminError};

/// Limits on idle sessions, and the version since which a server knows them.
const IDLE: [(&str, u32); 3] = [
    ("idle_in_transaction_session_timeout", 90_600),
    ("idle_session_timeout", 140_000),
    ("transaction_timeout", 170_000),
];

impl Admin {
    /// Lifts limits on idle sessions and long transactions for this session. Not for sessions that a pooler assigns to
    /// another client next.
    ///
    /// # Errors
    /// Only when the connection is lost: a server that refuses keeps its limits.
    pub fn lift_idle_limits(&mut self) -> Result<(), AdminError> {
        self.lift(&[])
    }

    /// Lifts the same limits, and that on the time of a statement.
    ///
    /// # Errors
    /// Only when the connection is lost: a server that refuses keeps its limits.
    pub fn lift_time_limits(&mut self) -> Result<(), AdminError> {
        self.lift(&["statement_timeout"])
    }

    fn lift(&mut self, more: &[&str]) -> Result<(), AdminError> {
        let version = self.parameters().server_version_num().unwrap_or_default();
        let known = IDLE.iter().filter(|(_, since)| version >= *since).map(|(name, _)| name);
        // What could end this very text goes first.
        let sql: Vec<_> = more.iter().chain(known).map(|name| format!("set {name} = 0")).collect();
        match self.promptly("to lift its time limits", |admin| admin.execute(&sql.join("; "))) {
            Err(error) if error.is_lost() => Err(error),
            _ => Ok(()),
        }
    }
}
