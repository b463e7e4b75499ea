//! Why a statement failed.

use pgdyno_wire::SqlState;
use pgdyno_wire::backend::{DecodeError, ServerMessage};

use crate::remedy::{is_disk_full, remedy};
use crate::statement::shorten;

/// The error of a failed statement. `sql` is its beginning.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The server refused it.
    #[error("{}, in: {sql}", .message.to_string().trim_end_matches('.'))]
    Server {
        /// The statement.
        sql: String,
        /// The server's message.
        message: Box<ServerMessage>,
    },
    /// The connection was lost.
    #[error("lost the connection to {peer} during: {sql}: {reason}")]
    Lost {
        /// `host:port` or the socket's path.
        peer: String,
        /// The statement.
        sql: String,
        /// The server's last message, else the system's.
        reason: String,
        /// The server's last message.
        said: Option<Box<ServerMessage>>,
    },
    /// The server accepted the connection, and its answer was not complete in time: see [`Admin::wait_at_most`].
    #[error(
        "{peer} accepted the connection and did not answer within {seconds} s {about}; see its log and its load, \
         and whether a pooler or proxy in between passes queries on, or set connect_timeout higher to wait longer"
    )]
    Silent {
        /// `host:port` or the socket's path.
        peer: String,
        /// The question: `when asked its version`, or `to: select …`.
        about: String,
        /// How long it waited.
        seconds: f64,
    },
    /// The answer takes more memory than expected of any answer: see [`Admin::take_at_most`].
    #[error(
        "{peer} answered with more than {} MiB to: {sql}; check that {peer} is the right server, and what its tables have", .limit_bytes >> 20
    )]
    TooLarge {
        /// `host:port` or the socket's path.
        peer: String,
        /// The statement.
        sql: String,
        /// The limit.
        limit_bytes: usize,
    },
    /// An [`crate::Interrupter`] ended the wait.
    #[error("interrupted during {command} on {peer}")]
    Interrupted {
        /// `host:port` or the socket's path.
        peer: String,
        /// The statement's command: `VACUUM`.
        command: String,
    },
    /// The server's bytes are no valid protocol.
    #[error("{peer} answered with garbage to: {sql}: {source}")]
    Garbage {
        /// `host:port` or the socket's path.
        peer: String,
        /// The statement.
        sql: String,
        /// The mistake.
        source: DecodeError,
    },
    /// The result has another form than expected.
    #[error("expected {expected}, and found {found}, in: {sql}")]
    Shape {
        /// The statement.
        sql: String,
        /// The form expected: rows, columns or a COPY.
        expected: &'static str,
        /// The form received.
        found: String,
    },
}

impl AdminError {
    /// Returns the SQLSTATE of a server's error, also of its last message before the connection was lost.
    #[must_use]
    pub fn code(&self) -> Option<SqlState> {
        match self {
            Self::Server { message, .. } => Some(message.code),
            Self::Lost { said, .. } => said.as_ref().map(|message| message.code),
            Self::Silent { .. }
            | Self::TooLarge { .. }
            | Self::Interrupted { .. }
            | Self::Garbage { .. }
            | Self::Shape { .. } => None,
        }
    }

    /// Returns true if the server's disk is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Server { message, .. } => is_disk_full(message),
            Self::Lost { said, .. } => said.as_deref().is_some_and(is_disk_full),
            _ => false,
        }
    }

    /// Returns the server's message without the statement, which may be long; the whole text of any other error.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Server { message, .. } => message.to_string(),
            _ => self.to_string(),
        }
    }

    /// Returns what to do about it, if the server's message names it: the setting, right or limit behind it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Server { message, .. } => remedy(message),
            Self::Lost { said, .. } => said.as_deref().and_then(remedy),
            Self::Silent { .. }
            | Self::TooLarge { .. }
            | Self::Interrupted { .. }
            | Self::Garbage { .. }
            | Self::Shape { .. } => None,
        }
    }

    /// Returns true if the connection is unusable.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Lost { .. }
            | Self::Silent { .. }
            | Self::TooLarge { .. }
            | Self::Interrupted { .. }
            | Self::Garbage { .. } => true,
            Self::Server { .. } | Self::Shape { .. } => false,
        }
    }
}

pub(crate) fn server_error(sql: &str, message: ServerMessage) -> AdminError {
    AdminError::Server { sql: shorten(sql), message: Box::new(message) }
}
