//! A connection that stops when all has to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgdyno_net::{Admin, AdminError, CopyWriter, Halt};

use crate::{LoadError, Phase};

/// A connection under the watch of a [`Halt`].
pub(crate) struct Session<'a> {
    admin: Admin,
    busy: Arc<AtomicBool>,
    /// A connection of its own for rows that need not go with anything else.
    rows: Option<(Admin, Arc<AtomicBool>)>,
    halt: &'a Halt<'a>,
}

/// What neither loads nor checks may be disturbed by: limits that a role or database may have. The one that could end
/// this very query goes first. `local` ends with the transaction.
pub(crate) fn no_limits(local: bool) -> [String; 2] {
    let others = "'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', \
                  'vacuum_cost_delay'";
    [
        format!("set {} statement_timeout = 0", if local { "local" } else { "session" }),
        format!("select set_config(name, '0', {local}) from pg_settings where name in ({others})"),
    ]
}

/// Runs `work` in a read-only transaction of its own, without limits of time.
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

/// How long a server may take to let go of locks.
const FAREWELL: Duration = Duration::from_secs(5);

impl<'a> Session<'a> {
    pub(crate) fn new(admin: Admin, halt: &'a Halt<'a>) -> Result<Self, LoadError> {
        let (admin, busy) = watch(admin, halt)?;
        Ok(Self { admin, busy, rows: None, halt })
    }

    /// From now on [`Session::copy_apart`] sends rows over `rows`.
    pub(crate) fn send_rows_over(&mut self, rows: Admin) -> Result<(), LoadError> {
        self.rows = Some(watch(rows, self.halt)?);
        Ok(())
    }

    /// Runs `work` on the connection, unless all has to stop. An error after that moment counts as the stop,
    /// for it is most likely the answer to our own cancel request.
    pub(crate) fn run<T>(
        &mut self,
        phase: Phase,
        table: Option<&str>,
        work: impl FnOnce(&mut Admin) -> Result<T, AdminError>,
    ) -> Result<T, LoadError> {
        attempt(&mut self.admin, &self.busy, self.halt, phase, table, work)
    }

    /// Whether all has to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.halt.is_set()
    }

    pub(crate) fn execute(&mut self, phase: Phase, table: Option<&str>, sql: &str) -> Result<u64, LoadError> {
        self.run(phase, table, |admin| admin.execute(sql))
    }

    /// Lets go of locks now: the server notices the connection's end only a moment later, and the next load may
    /// come before that. Nobody must be watching any more. The first statement may be hit by a cancel request
    /// that came late.
    pub(crate) fn end(mut self) {
        // Nobody is left who could end the waiting.
        if self.admin.wait_at_most(Some(FAREWELL)).is_err() {
            return;
        }
        for sql in ["rollback", "rollback", "select pg_advisory_unlock_all()"] {
            // On a broken connection there is nothing to let go of.
            if self.admin.execute(sql).is_err_and(|error| error.is_lost()) {
                return;
            }
        }
    }

    /// A COPY that `fill` fills; returns the rows that the server took. It is not finished when all has to
    /// stop meanwhile.
    pub(crate) fn copy(
        &mut self,
        table: &str,
        sql: &str,
        fill: impl FnOnce(&mut CopyWriter<'_>, &Halt<'_>) -> Result<(), AdminError>,
    ) -> Result<u64, LoadError> {
        copy(&mut self.admin, &self.busy, self.halt, table, sql, fill)
    }

    /// A COPY into a table that others see already, in a transaction of its own.
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

/// Makes a connection fit for a load.
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
