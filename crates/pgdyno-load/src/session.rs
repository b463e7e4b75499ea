//! A connection that stops when all has to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgdyno_net::{Admin, AdminError, CopyWriter};

use crate::halt::Halt;
use crate::{LoadError, Phase};

/// A connection under the watch of a [`Halt`].
pub(crate) struct Session<'a> {
    admin: Admin,
    busy: Arc<AtomicBool>,
    halt: &'a Halt<'a>,
}

/// What a load must not be disturbed by: limits that a role or database may have. The one that could end this
/// very query goes first.
pub(crate) const NO_LIMITS: [&str; 2] = [
    "set statement_timeout = 0",
    "select set_config(name, '0', false) from pg_settings where name in ('lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', \
     'vacuum_cost_delay')",
];

impl<'a> Session<'a> {
    pub(crate) fn new(mut admin: Admin, halt: &'a Halt<'a>) -> Result<Self, LoadError> {
        for sql in NO_LIMITS {
            admin.query(sql).map_err(|error| LoadError::of(Phase::Prepare, None, error))?;
        }
        let busy = halt.watch_over(admin.cancel_handle());
        Ok(Self { admin, busy, halt })
    }

    /// Runs `work` on the connection, unless all has to stop. An error after that moment counts as the stop,
    /// for it is most likely the answer to our own cancel request.
    pub(crate) fn run<T>(
        &mut self,
        phase: Phase,
        table: Option<&str>,
        work: impl FnOnce(&mut Admin) -> Result<T, AdminError>,
    ) -> Result<T, LoadError> {
        if self.halt.is_set() {
            return Err(LoadError::Interrupted);
        }
        self.busy.store(true, Ordering::Relaxed);
        let done = work(&mut self.admin);
        self.busy.store(false, Ordering::Relaxed);
        done.map_err(|error| match self.halt.is_set() {
            true => LoadError::Interrupted,
            false => LoadError::of(phase, table, error),
        })
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
        for sql in ["rollback", "rollback", "select pg_advisory_unlock_all()"] {
            // On a broken connection there is nothing to let go of.
            drop(self.admin.execute(sql));
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
        let halt = self.halt;
        let rows = self.run(Phase::Rows, Some(table), |admin| {
            let mut writer = admin.copy_in(sql)?;
            fill(&mut writer, halt)?;
            if halt.is_set() { Ok(None) } else { writer.finish().map(Some) }
        })?;
        rows.ok_or(LoadError::Interrupted)
    }
}
