//! How scenarios are carried out, and what comes of them.

use std::time::Duration;

use pgdyno_net::{AdminError, ConnectError};
use pgdyno_workload::IsolationLevel;

/// How scenarios are carried out.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The level of all transactions; `None`: the one that the role, database or server has.
    pub level: Option<IsolationLevel>,
    /// A step that takes longer hangs: it is cancelled, and the scenario has failed.
    pub limit: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self { level: None, limit: Duration::from_secs(30) }
    }
}

/// What came of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioResult {
    /// Whether it came as it must.
    pub holds: bool,
    /// What was seen where it did not: one line.
    pub found: Option<String>,
    /// Sessions whose transaction was sent again after a serialization failure.
    pub tried_again: Vec<&'static str>,
    /// How long it took.
    pub seconds: f64,
}

/// Why a scenario could not be carried out. What comes of it is no error.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A session could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The server refused what prepares or watches a session, or a connection broke.
    #[error(transparent)]
    Refused(#[from] AdminError),
    /// The system has no thread for it.
    #[error("cannot start a thread for a session")]
    Thread(#[source] std::io::Error),
    /// The stop flag was set.
    #[error("interrupted; what was under way is cancelled and rolled back")]
    Interrupted,
    /// The same, and what the scenario had committed is still there.
    #[error(
        "interrupted; what was under way is cancelled and rolled back, but what a test had committed could not be undone: \
         {0}; load the data anew with --replace"
    )]
    NotRestored(#[source] AdminError),
}
