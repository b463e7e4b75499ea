//! A connection that is closed when everything must stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgdyno_net::{Admin, AdminError, CopyWriter, Halt};

use crate::{LoadError, Phase};

/// A connection that a [`Halt`] watches.
pub(crate) struct Session<'a> {
    admin: Admin,
    busy: Arc<AtomicBool>,
    /// A second connection, for rows in a transaction of their own.
    rows: Option<(Admin, Arc<AtomicBool>)>,
    halt: &'a Halt<'a>,
}

/// SQL that lifts limits of a role or database, which must not disturb loads and checks. The one that could end this
/// very query goes first. `local` ends with the transaction.
pub(crate) fn no_limits(local: bool) -> [String; 2] {
    let others = "'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', \
                  'vacuum_cost_delay'";
    [
        format!("set {} statement_timeout = 0", if local { "local" } else { "session" }),
        format!("select set_config(name, '0', {local}) from pg_settings where name in ({others})"),
    ]
}

/// Runs `work` in a read-only transaction, without time limits.
pub(crate) fn in_read_only<T>(
    admin: &mut Admin,
    work: impl FnOnce(&mut Admin) -> Result<T, AdminError>,
) -> Result<T, AdminError> {
    admin.execute("begin transaction read only")?;
    let unlimited = no_limits(true).iter().try_for_each(|sql| admin.query(sql).map(drop));
    let done = unlimited.and_then(|()| work(admin));
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
        phase: Phase,
        table: Option<&str>,
        work: impl FnOnce(&mut Admin) -> Result<T, AdminError>,
    ) -> Result<T, LoadError> {
        attempt(&mut self.admin, &self.busy, self.halt, phase, table, work)
    }

    /// Returns true if everything must stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.halt.is_set()
    }

    pub(crate) fn execute(&mut self, phase: Phase, table: Option<&str>, sql: &str) -> Result<u64, LoadError> {
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
        if self.admin.wait_at_most(Some(FAREWELL)).is_err() {
            return;
        }
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
    for sql in no_limits(false) {
        admin.query(&sql).map_err(|error| match halt.is_set() {
            true => LoadError::Interrupted,
            false => LoadError::of(Phase::Prepare, None, error),
        })?;
    }
    let busy = halt.watch_over(admin.cancel_handle());
    Ok((admin, busy))
}

fn attempt<T>(
    admin: &mut Admin,
    busy: &AtomicBool,
    halt: &Halt<'_>,
    phase: Phase,
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
    let rows = attempt(admin, busy, halt, Phase::Rows, Some(table), |admin| {
        let mut writer = admin.copy_in(sql)?;
        fill(&mut writer, halt)?;
        if halt.is_set() { Ok(None) } else { writer.finish().map(Some) }
    })?;
    rows.ok_or(LoadError::Interrupted)
}
