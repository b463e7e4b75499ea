//! Time limits of waits, what is reported of them, and why they ended.

use std::io;
use std::time::Duration;

use crate::admin_error::AdminError;
use crate::channel::{Channel, ReceiveError};
use crate::interrupt::Watched;
use crate::statement::{command, shorten};
use crate::vigil::Vigil;
use crate::{CancelHandle, Deadline};

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
