//! Time limits of waits, and why they ended.

use std::io;
use std::time::{Duration, Instant};

use crate::admin::shorten;
use crate::channel::{Channel, ReceiveError};
use crate::interrupt::Watched;
use crate::transport::Patient as _;
use crate::{AdminError, CancelHandle};

/// Time for the server to read a cancel request after the wait for it has ended.
const CANCELLING: Duration = Duration::from_millis(300);

/// Limits and ends the waits of one connection.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// `host:port` or the socket's path, for messages.
    pub(crate) peer: String,
    pub(crate) cancel: CancelHandle,
    /// Time limit of a single read.
    patience: Option<Duration>,
    /// Time limit of short queries.
    answer_timeout: Duration,
    /// The short queries in words, while they run.
    pub(crate) about: Option<&'static str>,
    /// The query that the server did not answer in time, if there was one.
    unanswered: Option<&'static str>,
    /// While it exists, an [`crate::Interrupter`] may end the wait.
    pub(crate) watched: Option<Watched>,
}

impl Waiting {
    pub(crate) fn new(peer: String, cancel: CancelHandle, answer_timeout: Duration, watched: Option<Watched>) -> Self {
        Self { peer, cancel, patience: None, answer_timeout, about: None, unanswered: None, watched }
    }

    /// Sets the time limit of a single read.
    pub(crate) fn set_patience(&mut self, channel: &Channel, patience: Option<Duration>) -> io::Result<()> {
        self.patience = patience;
        channel.transport.set_read_timeout(patience)
    }

    /// Sets the deadline of the next query's answer. A server that was given up is not queried.
    pub(crate) fn begin(&self, channel: &mut Channel) -> io::Result<()> {
        if self.unanswered.is_some() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if self.about.is_some() {
            let limit = self.patience.map_or(self.answer_timeout, |patience| patience.min(self.answer_timeout));
            channel.set_deadline(Instant::now() + limit);
            return Ok(());
        }
        if channel.clear_deadline()? {
            channel.transport.set_read_timeout(self.patience)?;
        }
        Ok(())
    }

    /// Returns the error of a connection without input. A server that did not answer a short query in time is given
    /// up.
    pub(crate) fn failed(&mut self, sql: &str, error: &ReceiveError) -> AdminError {
        let timed_out = matches!(error, ReceiveError::Io(error) if error.kind() == io::ErrorKind::TimedOut);
        if timed_out && self.unanswered.is_none() {
            self.unanswered = self.about;
        }
        self.lost(sql, error.to_string())
    }

    /// Returns the error of an unusable connection, with `reason` unless this program ended the wait. Cancels the
    /// statement after an interrupt: a session that waits for a lock does not notice that its client is gone, and
    /// would continue with the lock.
    pub(crate) fn lost(&self, sql: &str, reason: String) -> AdminError {
        let peer = self.peer.clone();
        if self.watched.as_ref().is_some_and(Watched::is_interrupted) {
            // If the server does not read it, nothing more can be done.
            let _ = self.cancel.cancel_by(Instant::now() + CANCELLING, None);
            return AdminError::Interrupted { peer, command: command(sql) };
        }
        match self.unanswered {
            Some(about) => AdminError::Silent { peer, about, seconds: self.answer_timeout.as_secs_f64() },
            None => AdminError::Lost { peer, sql: shorten(sql), reason, said: None },
        }
    }
}

/// Returns the command of a statement, similar to its command tag: `VACUUM`, `CREATE TABLE`.
fn command(sql: &str) -> String {
    let mut words = sql.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_ascii_uppercase();
    match (first.as_str(), words.next()) {
        ("WITH", _) => "SELECT".to_owned(),
        ("CREATE" | "ALTER" | "DROP" | "LOCK", Some(second)) => format!("{first} {}", second.to_ascii_uppercase()),
        ("", _) => "a statement".to_owned(),
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_named_by_its_command() {
        for (sql, name) in [
            ("vacuum pgbench_branches", "VACUUM"),
            ("create table pgbench_accounts (aid int)", "CREATE TABLE"),
            ("  select pg_advisory_lock(1, 2)", "SELECT"),
            ("with violation as materialized (select 1) select 2", "SELECT"),
            ("begin; lock table t", "BEGIN"),
            ("checkpoint", "CHECKPOINT"),
            ("", "a statement"),
        ] {
            assert_eq!(command(sql), name, "{sql}");
        }
    }
}
