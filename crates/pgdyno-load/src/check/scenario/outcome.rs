//! Options and results of scenarios.

use std::time::Duration;

use pgdyno_net::{AdminError, ConnectError};
use pgdyno_workload::IsolationLevel;

/// Options of scenarios.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioOptions {
    /// Isolation level of all transactions; `None`: that of the role, database or server.
    pub level: Option<IsolationLevel>,
    /// A step that takes longer is cancelled, and the scenario has failed.
    pub limit: Duration,
}

impl Default for ScenarioOptions {
    fn default() -> Self {
        Self { level: None, limit: Duration::from_secs(30) }
    }
}

/// Result of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioResult {
    /// Whether the result was the expected one.
    pub holds: bool,
    /// What was observed if it was not: one line.
    pub found: Option<String>,
    /// Sessions whose transaction was sent again after a serialization failure.
    pub tried_again: Vec<&'static str>,
    /// How long it took.
    pub seconds: f64,
}

/// The error when a scenario could not be run. A failed scenario is no error.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A session could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The server refused a statement that prepares or observes a session, or a connection was lost.
    #[error(transparent)]
    Refused(#[from] AdminError),
    /// The system refused a thread.
    #[error("cannot start a thread for a session")]
    Thread(#[source] std::io::Error),
    /// An end was requested.
    #[error("interrupted; the transactions under way were cancelled and rolled back")]
    Interrupted,
    /// The same, and committed changes of the scenario remain.
    #[error(
        "interrupted; the transactions under way were cancelled and rolled back, but what a test had committed could \
         not be undone: {0}; load the data again with --replace"
    )]
    NotRestored(#[source] Box<ScenarioError>),
    /// It could not be run to its end, and committed changes of the scenario remain.
    #[error("{cause}; what a test had committed could not be undone: {source}; load the data again with --replace")]
    Changed {
        /// Why it ended.
        cause: Box<ScenarioError>,
        /// Why the changes remain.
        source: Box<ScenarioError>,
    },
}
