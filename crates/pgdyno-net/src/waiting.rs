//! Time limits of waits, what is reported of them, and why they ended.

use std::io;
use std::time::{Duration, Instant};

use crate::admin::shorten;
use crate::channel::{Channel, ReceiveError};
use crate::interrupt::Watched;
use crate::lookout::Lookout;
use crate::{AdminError, CancelHandle, ConnectOptions, Deadline};

/// Time for the server to read a cancel request after the wait for it has ended.
const CANCELLING: Duration = Duration::from_millis(300);

/// How long the answer to one statement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// [`ConnectOptions::answer_timeout`].
    Usual,
    /// This long.
    AtMost(Duration),
    /// As long as the server needs. An [`crate::Interrupter`] may end it.
    Unlimited,
}

/// Limits and ends the waits of one connection.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// `host:port` or the socket's path, for messages.
    pub(crate) peer: String,
    pub(crate) cancel: CancelHandle,
    /// Time limit of an answer.
    pub(crate) patience: Patience,
    /// A deadline of several statements, beside the time limit of each.
    pub(crate) deadline: Deadline,
    /// Time limit of short queries.
    answer_timeout: Duration,
    /// The short queries in words, while they run.
    pub(crate) about: Option<&'static str>,
    /// The query that the server did not answer in time, if there was one, and its time limit.
    unanswered: Option<(String, Duration)>,
    /// Time limit of the statement in progress.
    limit: Option<Duration>,
    /// While it exists, an [`crate::Interrupter`] may end the wait.
    pub(crate) watched: Option<Watched>,
    /// Reports long waits.
    pub(crate) vigil: Option<Vigil>,
}

impl Waiting {
    pub(crate) fn new(peer: String, cancel: CancelHandle, answer_timeout: Duration, watched: Option<Watched>) -> Self {
        Self {
            peer,
            cancel,
            patience: Patience::Usual,
            deadline: Deadline::NEVER,
            answer_timeout,
            about: None,
            unanswered: None,
            limit: None,
            watched,
            vigil: None,
        }
    }

    /// Sets the deadline of the next statement's answer. A server that was given up is not queried.
    pub(crate) fn begin(&mut self, channel: &mut Channel, sql: &str) -> io::Result<()> {
        if self.unanswered.is_some() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let of_one = match (self.patience, self.about) {
            (Patience::AtMost(limit), Some(_)) => Some(limit.min(self.answer_timeout)),
            (Patience::AtMost(limit), None) => Some(limit),
            (Patience::Unlimited, None) => None,
            (Patience::Usual, _) | (Patience::Unlimited, Some(_)) => Some(self.answer_timeout),
        };
        let deadline = of_one.map_or(Deadline::NEVER, Deadline::after).earlier(self.deadline);
        self.limit = deadline.left();
        if let Some(vigil) = &mut self.vigil {
            vigil.begin(sql);
        }
        channel.set_deadline(deadline)
    }

    /// Returns the error of a connection without input. A server that did not answer a short query in time is given
    /// up.
    pub(crate) fn failed(&mut self, sql: &str, error: &ReceiveError) -> AdminError {
        match error {
            ReceiveError::Io(error) => self.failed_io(sql, error),
            _ => self.lost(sql, error.to_string()),
        }
    }

    /// Returns the error of a connection that could not be read or written.
    pub(crate) fn failed_io(&mut self, sql: &str, error: &io::Error) -> AdminError {
        if error.kind() == io::ErrorKind::TimedOut && self.unanswered.is_none() && !self.is_interrupted() {
            let about = match self.about {
                Some(about) => format!("when asked {about}"),
                None => format!("to: {}", shorten(sql)),
            };
            self.unanswered = Some((about, self.limit.unwrap_or(self.answer_timeout)));
            self.cancel();
        }
        self.lost(sql, error.to_string())
    }

    /// Returns the error of an answer of more than `bytes`, and gives the server up.
    pub(crate) fn flooded(&mut self, sql: &str, bytes: usize) -> AdminError {
        self.cancel();
        AdminError::TooLarge { peer: self.peer.clone(), sql: shorten(sql), limit_bytes: bytes }
    }

    /// Returns the error of an unusable connection, with `reason` unless this program ended the wait. Cancels the
    /// statement after an interrupt.
    pub(crate) fn lost(&self, sql: &str, reason: String) -> AdminError {
        let peer = self.peer.clone();
        if self.is_interrupted() {
            self.cancel();
            return AdminError::Interrupted { peer, command: command(sql) };
        }
        match &self.unanswered {
            Some((about, limit)) => {
                AdminError::Silent { peer, about: about.clone(), seconds: limit.as_secs_f64().round() }
            }
            None => AdminError::Lost { peer, sql: shorten(sql), reason, said: None },
        }
    }

    fn is_interrupted(&self) -> bool {
        self.watched.as_ref().is_some_and(Watched::is_interrupted)
    }

    /// Cancels the statement: a session that waits for a lock does not notice that its client is gone, and would
    /// continue with the lock.
    fn cancel(&self) {
        // If the server does not read it, nothing more can be done.
        let _ = self.cancel.cancel_by(Deadline::after(CANCELLING), None);
    }
}

/// Times of the first looks at a statement that goes on; then one follows every minute.
const LOOKS: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(30)];
const EACH: Duration = Duration::from_secs(60);

/// Looks at the statement of one connection while it takes long.
#[derive(Debug)]
pub(crate) struct Vigil {
    lookout: Lookout,
    /// How to reach the same server for a second session.
    options: ConnectOptions,
    process_id: i32,
    statement: String,
    began: Instant,
    /// Number of looks so far.
    looks: usize,
    next: Deadline,
}

/// Characters of a statement that tell it from others.
const STATEMENT_CHARS: usize = 60;

impl Vigil {
    pub(crate) fn new(lookout: Lookout, options: ConnectOptions, process_id: i32) -> Self {
        let statement = String::new();
        Self { lookout, options, process_id, statement, began: Instant::now(), looks: 0, next: Deadline::NEVER }
    }

    fn begin(&mut self, sql: &str) {
        self.statement.clear();
        self.statement.extend(sql.chars().take(STATEMENT_CHARS));
        (self.began, self.looks) = (Instant::now(), 0);
        self.next = Deadline::at(self.began + LOOKS[0]);
    }

    /// Returns when it looks next.
    pub(crate) fn next(&self) -> Deadline {
        self.next
    }

    pub(crate) fn look_if_due(&mut self) {
        if !self.next.has_passed() {
            return;
        }
        let is_first = self.looks == 0;
        self.lookout.look(&self.options, self.process_id, &self.statement, self.began.elapsed(), is_first);
        self.looks += 1;
        let next = LOOKS.get(self.looks).map_or_else(|| Instant::now() + EACH, |after| self.began + *after);
        self.next = Deadline::at(next);
    }
}

/// Returns the command of a statement, similar to its command tag: `VACUUM`, `CREATE TABLE`.
pub(crate) fn command(sql: &str) -> String {
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
