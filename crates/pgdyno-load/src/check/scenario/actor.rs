//! A session of a scenario: a thread owns its connection, so that the scenario can be observed while a statement
//! waits.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, CancelHandle, ConnectOptions, TextRows};
use pgdyno_workload::IsolationLevel;

use super::ScenarioError;
use crate::session::lift_limits;

/// Interval between cancel requests: one that arrives between two statements is lost.
const REPEAT: Duration = Duration::from_millis(200);
/// A statement that does not end this long after it was cancelled is left to the server.
const ENDING: Duration = Duration::from_secs(10);

/// A statement in progress.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// As it was sent.
    pub(super) sql: String,
    /// The name of its row.
    pub(super) keep: Option<&'static str>,
    /// How often it was sent.
    pub(super) tries: u32,
}

/// One session.
pub(super) struct Actor {
    pub(super) name: &'static str,
    /// Process id of its backend.
    pub(super) pid: i32,
    cancel: CancelHandle,
    tasks: Sender<String>,
    answers: Receiver<Result<TextRows, AdminError>>,
    /// The statement that has not ended yet.
    pub(super) statement: Option<Statement>,
    /// Whether it is between BEGIN and the end of its transaction.
    pub(super) in_transaction: bool,
}

impl Actor {
    /// Connects, and lifts time limits of the role or database.
    pub(super) fn open(
        options: &ConnectOptions,
        name: &'static str,
        level: Option<IsolationLevel>,
    ) -> Result<Self, ScenarioError> {
        let mut admin = Admin::connect(options)?;
        lift_limits(&mut admin, false)?;
        // Scenarios are about waits for locks.
        admin.wait_without_limit();
        // Behind a pooler the key for cancel requests is the pooler's own.
        let pid =
            admin.query_one("select pg_backend_pid()")?.parse().unwrap_or_else(|_| admin.cancel_handle().process_id());
        if let Some(level) = level {
            admin.execute(&format!("set default_transaction_isolation = '{}'", level.name()))?;
        }
        let cancel = admin.cancel_handle();
        let (tasks, todo) = mpsc::channel::<String>();
        let (done, answers) = mpsc::channel();
        std::thread::Builder::new()
            .name(format!("pgdyno-{name}"))
            .spawn(move || {
                // The thread ends, and closes the connection, when the session is dropped.
                for sql in todo {
                    if done.send(admin.query(&sql)).is_err() {
                        break;
                    }
                }
            })
            .map_err(ScenarioError::Thread)?;
        Ok(Self { name, pid, cancel, tasks, answers, statement: None, in_transaction: false })
    }

    /// Sends a statement.
    pub(super) fn send(&mut self, statement: Statement) {
        // If the thread has ended with its connection, waiting for the result fails.
        let _ = self.tasks.send(statement.sql.clone());
        self.statement = Some(statement);
    }

    /// Returns the result of its statement, once it has ended.
    pub(super) fn answer(&mut self, within: Duration) -> Option<(Statement, Result<TextRows, AdminError>)> {
        match self.answers.recv_timeout(within) {
            Ok(answer) => Some((self.statement.take()?, answer)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Cancels its statement, and waits for the end.
    pub(super) fn stop(&mut self) {
        let deadline = Instant::now() + ENDING;
        while self.statement.is_some() && Instant::now() < deadline {
            // The server may be unreachable; the next attempt may succeed.
            drop(self.cancel.cancel());
            drop(self.answer(REPEAT));
        }
    }

    /// Releases its locks now: the server notices the end of a connection a little later, and the next scenario may
    /// begin before that. A late cancel request may hit the first statement.
    pub(super) fn end(mut self) {
        self.stop();
        if self.statement.is_none() {
            for _ in 0..2 {
                self.send(Statement { sql: "rollback".to_owned(), keep: None, tries: 1 });
                drop(self.answer(ENDING));
            }
        }
    }
}
