//! Units of rows that several machines take from one queue, which is in the logbook of the load.

use std::time::Duration;

use pgdyno_net::{Admin, ConnectOptions, Halt, Stop};
use pgdyno_workload::{Capabilities, CopyBuf, DataSet, Table};

use crate::load::copy::{Sent, send};
use crate::load::loaders::copy_sql;
use crate::load::schedule::Schedule;
use crate::session::Session;
use crate::state::logbook::Logbook;
use crate::{LoadError, LoadPhase, LoadProgress};

/// Units that one statement puts into the queue.
const AT_ONCE: usize = 1000;
/// Time between two looks at units that others have taken: they may come back.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The queue of a load, and what its takers need.
pub(crate) struct Queue<'a> {
    tables: &'a [Table],
    logbook: &'a Logbook,
    halt: &'a Halt<'a>,
    progress: &'a (dyn Fn(&LoadProgress<'_>) + Sync),
    sent: Vec<Sent>,
}

impl<'a> Queue<'a> {
    pub(crate) fn new(
        tables: &'a [Table],
        logbook: &'a Logbook,
        halt: &'a Halt<'a>,
        progress: &'a (dyn Fn(&LoadProgress<'_>) + Sync),
    ) -> Self {
        Self { tables, logbook, halt, progress, sent: tables.iter().map(|_| Sent::default()).collect() }
    }

    /// Puts all units that are left into it.
    pub(crate) fn put(&self, session: &mut Session<'_>, schedule: &mut Schedule) -> Result<(), LoadError> {
        for (n, table) in self.tables.iter().enumerate() {
            let units: Vec<_> = match schedule.is_split(n) {
                true => std::iter::from_fn(|| schedule.chunks(n)).collect(),
                false => Vec::new(),
            };
            for units in units.chunks(AT_ONCE) {
                session.execute(LoadPhase::Rows, Some(table.name), &self.logbook.queue_sql(n, table.name, units))?;
            }
        }
        Ok(())
    }

    /// Copies units until none is left and all that others have taken are stored. Each session takes one after the
    /// other.
    pub(crate) fn work(&self, sessions: &mut [Session<'_>]) -> Result<u64, LoadError> {
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = sessions.iter_mut().map(|session| scope.spawn(|| self.take_all(session))).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let mut rows = 0;
        let mut failed = None;
        for result in results {
            // A panic was reported when it happened.
            match result.unwrap_or(Err(LoadError::Interrupted)) {
                Ok(more) => rows += more,
                // The others were interrupted by the first error.
                Err(LoadError::Interrupted) if failed.is_some() => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(rows), Err)
    }

    fn take_all(&self, session: &mut Session<'_>) -> Result<u64, LoadError> {
        let (mut buffer, mut rows) = (CopyBuf::new(), 0);
        let done = loop {
            match self.take_one(session, &mut buffer) {
                Ok(Some(more)) => rows += more,
                Ok(None) => match session.run(LoadPhase::Rows, None, |admin| self.logbook.is_queue_done(admin)) {
                    Ok(true) => break Ok(rows),
                    Ok(false) => std::thread::sleep(POLL_INTERVAL),
                    Err(error) => break Err(error),
                },
                Err(error) => break Err(error),
            }
        };
        if done.is_err() {
            // The others end, too.
            self.halt.fail();
        }
        done
    }

    /// Takes a unit, copies its rows and enters them, in one transaction. Returns `None` if there is none to take.
    fn take_one(&self, session: &mut Session<'_>, buffer: &mut CopyBuf) -> Result<Option<u64>, LoadError> {
        session.execute(LoadPhase::Rows, None, &format!("begin; {}", self.logbook.lock_sql()))?;
        let taken = session.run(LoadPhase::Rows, None, |admin| self.logbook.take(admin))?;
        let known = |name: &str| self.tables.iter().position(|table| table.name == name);
        let Some((n, unit)) = taken.and_then(|(name, unit)| Some((known(&name)?, unit))) else {
            session.execute(LoadPhase::Rows, None, "rollback")?;
            return Ok(None);
        };
        let (table, mut chunks) = (&self.tables[n], unit.clone());
        let copy = copy_sql(table, table.relation_of(&unit), false);
        let rows = session.copy(table.name, &copy, |writer, halt| {
            send(table, || chunks.next(), buffer, writer, &self.sent[n], halt, self.progress)
        })?;
        let entry = self.logbook.rows_sql(table.name, &unit, rows);
        session.execute(LoadPhase::Rows, Some(table.name), &format!("{entry}; commit"))?;
        Ok(Some(rows))
    }
}

/// Helps with a load that another machine has begun and shares: copies rows over so many connections until none are
/// left. `schema` is that of the load, which [`Shared::begun`](crate::Shared::begun) names. Returns the number of rows.
///
/// # Errors
/// When the server refuses a statement, a connection is lost, or `stop` is set. What was not committed is left to the
/// others.
pub fn help(
    options: &ConnectOptions,
    data: &dyn DataSet,
    caps: &Capabilities,
    schema: &str,
    loaders: usize,
    progress: &(dyn Fn(&LoadProgress<'_>) + Sync),
    stop: &Stop,
) -> Result<u64, LoadError> {
    let halt = Halt::new(stop);
    let options = &halt.options(options);
    let tables = data.tables(caps);
    let logbook = Logbook::new(schema, data.meta().dataset);
    halt.watched(|| {
        let session = |_| Session::new(Admin::connect(options)?, &halt);
        let mut sessions = (0..loaders.max(1)).map(session).collect::<Result<Vec<_>, LoadError>>()?;
        Queue::new(&tables, &logbook, &halt, progress).work(&mut sessions)
    })
}
