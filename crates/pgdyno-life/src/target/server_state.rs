//! The server of a session: whether it takes writes, since when it runs, and on which timeline.

use pgdyno_net::{Admin, AdminError};

/// Start of the postmaster, and whether the session can write.
const STATE: &str = "select to_char(pg_postmaster_start_time() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), \
     pg_is_in_recovery() or current_setting('transaction_read_only') = 'on'";
/// The name of a WAL file begins with the timeline. `pg_control_checkpoint` has the old one until the next checkpoint.
const TIMELINE: &str = "select left(pg_walfile_name(pg_current_wal_lsn()), 8)";

/// What a server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerState {
    /// When its postmaster started.
    pub(crate) started: String,
    /// Whether it takes writes.
    pub(crate) takes_writes: bool,
    /// Its timeline in hexadecimal; unknown on a standby, and where a service does not let its users ask.
    pub(crate) timeline: Option<String>,
}

impl ServerState {
    /// Asks a server.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) fn ask(admin: &mut Admin) -> Result<Self, AdminError> {
        let mut row = admin.query(STATE)?.rows.pop().unwrap_or_default().into_iter();
        let started = row.next().flatten().unwrap_or_default();
        let takes_writes = row.next().flatten().as_deref() == Some("f");
        let timeline = if takes_writes { admin.query_one(TIMELINE).ok() } else { None };
        Ok(Self { started, takes_writes, timeline })
    }
}
