//! A connection that is closed when everything must stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgdyno_net::{Admin, AdminError, CopyWriter, Halt};
use pgdyno_wire::SqlState;

use crate::{LoadError, LoadPhase};

/// A connection that a [`Halt`] watches.
pub(crate) struct Session<'a> {
    admin: Admin,
    busy: Arc<AtomicBool>,
    /// A second connection, for rows in a transaction of their own.
    rows: Option<(Admin, Arc<AtomicBool>)>,
    halt: &'a Halt<'a>,
}

/// Limits of a session's time, each with the first version that has it.
const LIMITS: [(&str, u32); 6] = [
    // It could end the statement that lifts the others.
    ("statement_timeout", 0),
    ("lock_timeout", 0),
    ("idle_in_transaction_session_timeout", 0),
    ("vacuum_cost_delay", 0),
    ("idle_session_timeout", 140_000),
    ("transaction_timeout", 170_000),
];

/// Lifts limits of a role or database, which must not disturb loads and checks. `local` ends with the transaction: it is for
/// checks, which keep `lock_timeout`, for they are left out rather than wait for another session. SET needs no right to a view
/// or function.
pub(crate) fn lift_limits(admin: &mut Admin, local: bool) -> Result<(), AdminError> {
    admin.execute(&lift_limits_sql(admin, local)).map(drop)
}

fn lift_limits_sql(admin: &Admin, local: bool) -> String {
    let version = admin.parameters().server_version_num().unwrap_or_default();
    let scope = if local { "local" } else { "session" };
    let is_lifted = |name: &str| !(local && name == "lock_timeout");
    let known = LIMITS.iter().filter(|(name, since)| version >= *since && is_lifted(name));
    let lift: Vec<_> = known.map(|(name, _)| format!("set {scope} {name} = 0")).collect();
    lift.join("; ")
}

/// Attempts to begin a transaction while a time limit is still in force.
const ATTEMPTS: u32 = 5;

/// Begins a read-only transaction without time limits. On a busy machine a limit of a few milliseconds can end even this: it is tried
/// again.
pub(crate) fn begin_read_only(admin: &mut Admin) -> Result<(), AdminError> {
    let begin = format!("begin transaction read only; {}", lift_limits_sql(admin, true));
    let mut attempts = 1;
    loop {
        let begun = admin.execute(&begin);
        let Err(error) = begun else { return Ok(()) };
        let ended = admin.execute("rollback");
        if error.code() != Some(SqlState::QUERY_CANCELED) || ended.is_err() || attempts == ATTEMPTS {
            return Err(error);
        }
        attempts += 1;
    }
}

/// Runs `work` in a read-only transaction, without time limits.
pub(crate) fn in_read_only<T>(
    admin: &mut Admin,
    work: impl FnOnce(&mut Admin) -> Result<T, AdminError>,
) -> Result<T, AdminError> {
    begin_read_only(admin)?;
    let done = work(admin);
    // The first error counts.
    let ended = admin.execute("rollback");
    done.and_then(|done| ended.map(|_| done))
}

/// Time for a server to release locks.
const FAREWELL: Duration = Duration::from_secs(5);

impl<'a> Session<'a> {
    pub(crate) fn new(admin: Admin, halt: &'a Halt<'a>) -> Result<Self, LoadError> {
        let (admin, busy) = watch(admin, halt)?;
        Ok(Self { admin, busy, rows: None, halt })
    }

    /// Sends rows of [`Session::copy_apart`] over `rows` from now on.
    pub(crate) fn send_rows_over(&mut self, rows: Admin) -> Result<(), LoadError> {
        self.rows = Some(watch(rows, self.halt)?);
        Ok(())
    }

    /// Runs `work` on the connection, unless everything must stop. An error after that moment counts as the stop: it
    /// is most likely caused by the cancel request.
    pub(crate) fn run<T>(
        &mut self,
        phase: LoadPhase,
        table: Option<&str>,
        work: impl FnOnce(&mut Admin) -> Result<T, AdminError>,
    ) -> Result<T, LoadError> {
        attempt(&mut self.admin, &self.busy, self.halt, phase, table, work)
    }

    /// Returns true if everything must stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.halt.is_set()
    }

    pub(crate) fn execute(&mut self, phase: LoadPhase, table: Option<&str>, sql: &str) -> Result<u64, LoadError> {
        self.run(phase, table, |admin| admin.execute(sql))
    }

    /// Asks for nothing, so that nothing in between takes the connection for idle. If it is lost, the next statement fails.
    pub(crate) fn look_in(&mut self) {
        let _ = self.admin.query("select 1");
    }

    /// Releases locks now: the server notices the end of the connection a little later, and the next load may begin
    /// before that. Nothing may watch the connection any more. A late cancel request may hit the first statement.
    pub(crate) fn end(mut self) {
        // Nothing is left that could end the wait.
        self.admin.wait_at_most(FAREWELL);
        for sql in ["rollback", "rollback", "select pg_advisory_unlock_all()"] {
            // A lost connection has no locks.
            if self.admin.execute(sql).is_err_and(|error| error.is_lost()) {
                return;
            }
        }
    }

    /// Runs a COPY that `fill` fills. Returns the rows that the server received. Does not finish it if everything
    /// must stop meanwhile.
    pub(crate) fn copy(
        &mut self,
        table: &str,
        sql: &str,
        fill: impl FnOnce(&mut CopyWriter<'_>, &Halt<'_>) -> Result<(), AdminError>,
    ) -> Result<u64, LoadError> {
        copy(&mut self.admin, &self.busy, self.halt, table, sql, fill)
    }

    /// Runs a COPY in a transaction of its own, into a table that others see already.
    pub(crate) fn copy_apart(
        &mut self,
        table: &str,
        sql: &str,
        fill: impl FnOnce(&mut CopyWriter<'_>, &Halt<'_>) -> Result<(), AdminError>,
    ) -> Result<u64, LoadError> {
        match &mut self.rows {
            Some((admin, busy)) => copy(admin, busy, self.halt, table, sql, fill),
            None => self.copy(table, sql, fill),
        }
    }
}

/// Prepares a connection for a load.
fn watch(mut admin: Admin, halt: &Halt<'_>) -> Result<(Admin, Arc<AtomicBool>), LoadError> {
    lift_limits(&mut admin, false).map_err(|error| match halt.is_set() {
        true => LoadError::Interrupted,
        false => LoadError::of(LoadPhase::Prepare, None, error),
    })?;
    // COPY, index builds and waits for locks take as long as they need; `halt` ends them.
    admin.wait_without_limit();
    let busy = halt.watch_over(admin.cancel_handle());
    Ok((admin, busy))
}

fn attempt<T>(
    admin: &mut Admin,
    busy: &AtomicBool,
    halt: &Halt<'_>,
    phase: LoadPhase,
    table: Option<&str>,
    work: impl FnOnce(&mut Admin) -> Result<T, AdminError>,
) -> Result<T, LoadError> {
    if halt.is_set() {
        return Err(LoadError::Interrupted);
    }
    busy.store(true, Ordering::Relaxed);
    let done = work(admin);
    busy.store(false, Ordering::Relaxed);
    done.map_err(|error| match halt.is_set() {
        true => LoadError::Interrupted,
        false => LoadError::of(phase, table, error),
    })
}

fn copy(
    admin: &mut Admin,
    busy: &AtomicBool,
    halt: &Halt<'_>,
    table: &str,
    sql: &str,
    fill: impl FnOnce(&mut CopyWriter<'_>, &Halt<'_>) -> Result<(), AdminError>,
) -> Result<u64, LoadError> {
    let rows = attempt(admin, busy, halt, LoadPhase::Rows, Some(table), |admin| {
        let mut writer = admin.copy_in(sql)?;
        fill(&mut writer, halt)?;
        if halt.is_set() { Ok(None) } else { writer.finish().map(Some) }
    })?;
    rows.ok_or(LoadError::Interrupted)
}
