//! The meeting in PostgreSQL: agents, runs, orders and batches are rows of the schema `pgdyno_meet`.
//!
//! Each side writes its state when it changes and once a second, and reads the other's a few times a second. `NOTIFY`
//! makes that quicker; where notifications do not arrive, as behind a pooler, the reading alone suffices. There are no
//! locks beyond those of single statements, and nothing of a session is relied upon.
//!
//! A role that may write into the schema may write any row. `rows` reads them as such; what is read is bounded in size and
//! number; and each side writes its own rows again when they are not as it left them.

mod desk;
pub mod rows;
mod schema;
mod seat;

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions};

use crate::{LocalTime, TASK_BYTES_MAX};

pub use desk::{Desk, agents};
pub use rows::AgentRow;
pub use schema::{SCHEMA, VERSION};
pub use seat::{AgentNotice, Seat};

/// The version of what coordinator and agents say to each other. Together with the program's version it decides who can
/// serve whom.
pub const PROTOCOL: u32 = 1;

/// Time between two looks at the meeting where nothing is known to have changed.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two attempts to reach a meeting server that was lost.
const RETRY: Duration = Duration::from_secs(1);
/// How long the meeting server may take to answer.
const ANSWERING: Duration = Duration::from_secs(10);
/// Memory limit of an answer: the largest task as hexadecimal text, and the rest of its row.
const ANSWER_BYTES_MAX: usize = 2 * TASK_BYTES_MAX + (16 << 20);

/// Why there is no meeting.
#[derive(Debug, thiserror::Error)]
pub enum MeetError {
    /// The meeting server cannot be reached.
    #[error("failed to reach the meeting database")]
    Connect(#[from] ConnectError),
    /// A statement failed.
    #[error("the meeting database failed")]
    Statement(#[from] AdminError),
    /// The schema cannot be created.
    #[error("role {role} may not create the schema pgdyno_meet in database {database}")]
    NotAllowed {
        /// The role.
        role: String,
        /// The database.
        database: String,
    },
    /// The schema is of another version.
    #[error("the schema pgdyno_meet in database {database} is of version {found}; this program has version {VERSION}")]
    Version {
        /// The database.
        database: String,
        /// Its version.
        found: u32,
    },
    /// The schema has no version: it is not one of pgdyno, or was changed.
    #[error("the schema pgdyno_meet in database {database} has no valid version")]
    NoVersion {
        /// The database.
        database: String,
    },
    /// The schema is gone or was changed, or the role has lost its rights on it.
    #[error("the schema pgdyno_meet in database {database} can no longer be used")]
    Unusable {
        /// The database.
        database: String,
        /// The server's message.
        source: AdminError,
    },
    /// The row of the run is gone.
    #[error("the row of this run was deleted from pgdyno_meet.runs in database {database}")]
    RunDeleted {
        /// The database.
        database: String,
    },
}

impl MeetError {
    /// Returns what to do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Connect(_) | Self::Statement(_) => None,
            Self::Unusable { .. } => {
                Some("agents and runs that start now create it again, if it is gone and the role may".to_owned())
            }
            Self::RunDeleted { .. } => Some("run again; nothing else may write into that schema".to_owned()),
            Self::NoVersion { .. } => {
                Some("when nobody meets there, DROP SCHEMA pgdyno_meet CASCADE makes room for a new one".to_owned())
            }
            Self::NotAllowed { role, .. } => Some(format!(
                "as an administrator of that database, run once: CREATE SCHEMA pgdyno_meet AUTHORIZATION {}",
                pgdyno_net::quote::identifier(role)
            )),
            Self::Version { .. } => Some(
                "use one version of pgdyno on all machines; when nobody meets there, DROP SCHEMA pgdyno_meet CASCADE \
                 makes room for another version"
                    .to_owned(),
            ),
        }
    }
}

/// A connection to the meeting server that is made again when it was lost.
struct Link {
    options: ConnectOptions,
    admin: Option<Admin>,
    /// The channel to listen to.
    channel: String,
    begun: Instant,
    tried: Instant,
    /// Why the server cannot be asked, since it could not.
    outage: Option<String>,
    /// Why it is of no use to ask again.
    failure: Option<MeetError>,
}

impl Link {
    fn open(options: &ConnectOptions) -> Result<Self, MeetError> {
        let options = options.with_default_connect_timeout(ANSWERING);
        let mut admin = connect(&options)?;
        schema::provide(&mut admin, &options)?;
        let now = Instant::now();
        let channel = String::new();
        Ok(Self { options, admin: Some(admin), channel, begun: now, tried: now, outage: None, failure: None })
    }

    /// Returns the local time.
    fn now(&self) -> LocalTime {
        LocalTime(self.begun.elapsed().as_nanos() as u64)
    }

    /// Returns the moment of a local time.
    fn instant(&self, tick: LocalTime) -> Instant {
        self.begun + Duration::from_nanos(tick.0)
    }

    /// Listens to a channel from now on, also after the connection was made again. A pooler may refuse: then the
    /// reading alone must suffice.
    fn listen(&mut self, channel: String) {
        self.channel = channel;
        if let Some(admin) = &mut self.admin {
            drop(admin.execute(&format!("LISTEN {}", self.channel)));
        }
    }

    /// Returns the connection; makes it again if it was lost, but not too often.
    fn admin(&mut self) -> Option<&mut Admin> {
        if self.admin.is_none() && self.tried.elapsed() >= RETRY {
            self.tried = Instant::now();
            match connect(&self.options) {
                Ok(admin) => self.admin = Some(admin),
                Err(error) => drop(self.outage.get_or_insert_with(|| error.to_string())),
            }
            if let Some(admin) = self.admin.as_mut().filter(|_| !self.channel.is_empty()) {
                drop(admin.execute(&format!("LISTEN {}", self.channel)));
            }
        }
        self.admin.as_mut()
    }

    /// Asks for something on the connection. Gives the connection up if that fails, and returns `None`.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut Admin) -> Result<T, AdminError>) -> Option<T> {
        match ask(self.admin()?) {
            Ok(answer) => {
                self.outage = None;
                Some(answer)
            }
            Err(error) => {
                self.admin = None;
                self.tried = Instant::now();
                self.outage.get_or_insert_with(|| error.reason());
                if is_final(&error) {
                    let database = self.options.dbname().to_owned();
                    self.failure.get_or_insert(MeetError::Unusable { database, source: error });
                }
                None
            }
        }
    }

    /// Returns a round trip to the server's clock: asked, its time in nanoseconds since 1970, answered.
    fn sample(&mut self) -> Option<(LocalTime, u64, LocalTime)> {
        let asked = self.now();
        let micros =
            self.ask(|admin| admin.query_one("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"))?;
        Some((asked, micros.parse::<u64>().ok()? * 1000, self.now()))
    }

    /// Waits for a notification.
    fn wait(&mut self, patience: Duration) -> bool {
        match &mut self.admin {
            None => {
                std::thread::sleep(patience);
                false
            }
            // A connection that was lost is found out by the next statement.
            Some(admin) => admin.wait_for_news(patience).unwrap_or(true),
        }
    }
}

/// Returns true if the same statement fails again and again: there is no such schema, table or column, or no right to it.
fn is_final(error: &AdminError) -> bool {
    !error.is_lost()
        && error.code().is_some_and(|code| ["3F", "42"].iter().any(|class| code.as_str().starts_with(class)))
}

fn connect(options: &ConnectOptions) -> Result<Admin, ConnectError> {
    let mut admin = Admin::connect(options)?;
    admin.wait_at_most(ANSWERING);
    admin.take_at_most(ANSWER_BYTES_MAX);
    Ok(admin)
}

/// Returns one transaction of statements that may be lost in a crash of the server: they are sent again then.
fn transaction(statements: &str) -> String {
    format!("BEGIN; SET LOCAL synchronous_commit = off; {statements} COMMIT")
}

/// Returns bytes as an SQL expression.
fn bytea(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2 + 20);
    text.push_str("decode('");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
        }
    }
    text.push_str("', 'hex')");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_back_from_their_digits() {
        let bytes: Vec<u8> = (0..=255).collect();
        let sql = bytea(&bytes);
        let digits = sql.trim_start_matches("decode('").trim_end_matches("', 'hex')");
        assert_eq!(rows::unhex(digits), bytes);
    }
}
