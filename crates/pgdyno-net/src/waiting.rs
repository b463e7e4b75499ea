//! How long an answer is waited for, and why nobody waits any longer.

use std::io;
use std::time::{Duration, Instant};

use crate::admin::shorten;
use crate::channel::{Channel, ReceiveError};
use crate::interrupt::Watched;
use crate::transport::Patient as _;
use crate::{AdminError, CancelHandle};

/// How long the server may take to read a cancel request once nobody waits for it any more.
const CANCELLING: Duration = Duration::from_millis(300);

/// Bounds and ends the waits of one connection.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// `host:port` or the socket's path, for messages.
    pub(crate) peer: String,
    pub(crate) cancel: CancelHandle,
    /// How long a single read waits.
    patience: Option<Duration>,
    /// How long the answer to a short question may take.
    answer_timeout: Duration,
    /// What is asked in words, as long as the questions are short ones.
    pub(crate) about: Option<&'static str>,
    /// What the server did not answer in time, if it did not.
    unanswered: Option<&'static str>,
    /// As long as it lives, an [`crate::Interrupter`] may end the wait.
    pub(crate) watched: Option<Watched>,
}

impl Waiting {
    pub(crate) fn new(peer: String, cancel: CancelHandle, answer_timeout: Duration, watched: Option<Watched>) -> Self {
        Self { peer, cancel, patience: None, answer_timeout, about: None, unanswered: None, watched }
    }

    /// Lets a single read wait for so long.
    pub(crate) fn set_patience(&mut self, channel: &Channel, patience: Option<Duration>) -> io::Result<()> {
        self.patience = patience;
        channel.transport.set_read_timeout(patience)
    }

    /// Sets the time in which the answer to the next question has to come. A server that was given up is asked nothing.
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

    /// The error of a connection over which nothing came. A server that did not answer a short question in time is given
    /// up.
    pub(crate) fn failed(&mut self, sql: &str, error: &ReceiveError) -> AdminError {
        let timed_out = matches!(error, ReceiveError::Io(error) if error.kind() == io::ErrorKind::TimedOut);
        if timed_out && self.unanswered.is_none() {
            self.unanswered = self.about;
        }
        self.lost(sql, error.to_string())
    }

    /// The error of a connection that is of no more use, for `reason` unless we ended the wait ourselves. What an
    /// interrupted statement does is cancelled: a session that waits for a lock does not see that its client is gone, and
    /// would go on once it has the lock.
    pub(crate) fn lost(&self, sql: &str, reason: String) -> AdminError {
        let peer = self.peer.clone();
        if self.watched.as_ref().is_some_and(Watched::is_interrupted) {
            // Where the server does not read it there is nothing more to be done.
            let _ = self.cancel.cancel_by(Instant::now() + CANCELLING, None);
            return AdminError::Interrupted { peer, command: command(sql) };
        }
        match self.unanswered {
            Some(about) => AdminError::Silent { peer, about, seconds: self.answer_timeout.as_secs_f64() },
            None => AdminError::Lost { peer, sql: shorten(sql), reason, said: None },
        }
    }
}

/// The command of a statement, about as its command tag names it: `VACUUM`, `CREATE TABLE`.
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
