//! The threads that load.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pgdyno_net::quote;
use pgdyno_workload::{CopyBuf, Table};

use crate::copy::{Sent, send};
use crate::halt::Halt;
use crate::schedule::{Job, Next, Schedule, Task};
use crate::session::Session;
use crate::{LoadError, Phase, Progress};

/// How often a loader that waits looks whether all has to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// What all loaders share.
pub(crate) struct Work<'a> {
    pub(crate) tables: &'a [Table],
    /// The comment that marks what is ours, as a literal.
    pub(crate) mark: String,
    /// Whether COPY FREEZE leaves pages marked as all-visible, so that no VACUUM is needed (PostgreSQL 14).
    pub(crate) freeze_suffices: bool,
    pub(crate) halt: &'a Halt<'a>,
    pub(crate) progress: &'a (dyn Fn(&Progress<'_>) + Sync),
    board: Mutex<Board>,
    changed: Condvar,
    sent: Vec<Sent>,
}

struct Board {
    schedule: Schedule,
    /// The first error; those that follow from it are dropped.
    error: Option<LoadError>,
    tables: Vec<Filled>,
    spans: Vec<Span>,
    /// Statements that are done, and all of them, by phase.
    steps: Vec<(Phase, usize, usize)>,
}

/// What became of one table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filled {
    pub(crate) rows: u64,
    pub(crate) copy_bytes: u64,
    pub(crate) loaders: usize,
    began: Option<Instant>,
    ended: Option<Instant>,
}

impl Filled {
    pub(crate) fn seconds(&self) -> f64 {
        self.began.zip(self.ended).map_or(0.0, |(from, to)| to.duration_since(from).as_secs_f64())
    }
}

/// From the first statement of a phase to its last one's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) phase: Phase,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        tables: &'a [Table],
        loaders: usize,
        mark: String,
        freeze_suffices: bool,
        halt: &'a Halt<'a>,
        progress: &'a (dyn Fn(&Progress<'_>) + Sync),
    ) -> Self {
        let schedule = Schedule::new(tables.iter().map(job).collect(), loaders);
        let split = (0..tables.len()).filter(|table| schedule.is_split(*table)).count();
        let indexes = tables.iter().map(|table| table.indexes.len()).sum();
        let board = Board {
            schedule,
            error: None,
            tables: vec![Filled::default(); tables.len()],
            spans: Vec::new(),
            steps: vec![(Phase::Freeze, 0, split), (Phase::Indexes, 0, indexes), (Phase::Analyze, 0, tables.len())],
        };
        Self {
            tables,
            mark,
            freeze_suffices,
            halt,
            progress,
            board: Mutex::new(board),
            changed: Condvar::new(),
            sent: tables.iter().map(|_| Sent::default()).collect(),
        }
    }

    /// The most loaders that can be busy at a time.
    pub(crate) fn useful_loaders(&self) -> usize {
        self.board().schedule.useful_loaders()
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        // A loader that panicked has ended the load; what the others still say is only noted.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the tables that several loaders fill, then lets the loaders go to work, a thread for each, and
    /// waits for all of them.
    pub(crate) fn run(&self, sessions: &mut [Session<'_>]) -> Result<(Vec<Filled>, Vec<Span>), LoadError> {
        for (n, table) in self.tables.iter().enumerate() {
            if self.board().schedule.is_split(n) {
                self.began(Phase::Rows);
                sessions[0].execute(Phase::Rows, Some(table.name), &self.create_sql(table))?;
                self.ended(Phase::Rows);
            }
        }
        std::thread::scope(|scope| {
            for session in sessions {
                scope.spawn(|| self.load(session));
            }
        });
        let mut board = self.board();
        match board.error.take() {
            Some(error) => Err(error),
            None if self.halt.is_set() => Err(LoadError::Interrupted),
            None => Ok((std::mem::take(&mut board.tables), std::mem::take(&mut board.spans))),
        }
    }

    /// What one loader does.
    fn load(&self, session: &mut Session<'_>) {
        /// The others must not wait for a loader that panicked.
        struct Panicked<'a>(&'a Halt<'a>);
        impl Drop for Panicked<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.fail();
                }
            }
        }
        let _panicked = Panicked(self.halt);
        let mut buffer = CopyBuf::new();
        while let Some(task) = self.next() {
            let done = self.perform(task, session, &mut buffer);
            let mut board = self.board();
            match done {
                Ok(()) => board.schedule.finish(task),
                Err(error) => {
                    self.halt.fail();
                    if !matches!(error, LoadError::Interrupted) {
                        board.error.get_or_insert(error);
                    }
                }
            }
            self.changed.notify_all();
        }
    }

    /// The next task, waited for; none when there is nothing left or all has to stop.
    fn next(&self) -> Option<Task> {
        let mut board = self.board();
        loop {
            if self.halt.is_set() {
                return None;
            }
            match board.schedule.take() {
                Next::Do(task) => return Some(task),
                Next::Finished => return None,
                Next::Wait => {
                    let waited = self.changed.wait_timeout(board, GLANCE);
                    board = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    fn perform(&self, task: Task, session: &mut Session<'_>, buffer: &mut CopyBuf) -> Result<(), LoadError> {
        let table = &self.tables[task.table()];
        let phase = phase(task);
        self.began(phase);
        match task {
            Task::Whole(n) => self.fill_whole(n, session, buffer)?,
            Task::Share(n) => self.fill_share(n, session, buffer)?,
            Task::Freeze(n) => {
                self.expect_rows(n)?;
                session.execute(phase, Some(table.name), &format!("vacuum (freeze) {}", name(table)))?;
            }
            Task::Index(_, index) => {
                session.execute(phase, Some(table.name), &table.indexes[index])?;
            }
            Task::Analyze(n) => {
                // A VACUUM beside it sets the visibility map where COPY FREEZE has not.
                let vacuum = !self.freeze_suffices && !self.board().schedule.is_split(n);
                let verb = if vacuum { "vacuum analyze" } else { "analyze" };
                session.execute(phase, Some(table.name), &format!("{verb} {}", name(table)))?;
            }
        }
        self.ended(phase);
        Ok(())
    }

    /// Creates, fills and freezes a table in one transaction. Under `wal_level=minimal` PostgreSQL then writes
    /// no WAL for the rows.
    fn fill_whole(&self, n: usize, session: &mut Session<'_>, buffer: &mut CopyBuf) -> Result<(), LoadError> {
        let table = &self.tables[n];
        self.filling(n);
        session.execute(Phase::Rows, Some(table.name), &format!("begin; {}", self.create_sql(table)))?;
        if let Some(source) = &table.source {
            let mut chunks = 0..source.chunks();
            let sql = format!("copy {} from stdin with (freeze)", name(table));
            let rows = session.copy(table.name, &sql, |writer, halt| {
                send(table, || chunks.next(), buffer, writer, &self.sent[n], halt, self.progress)
            })?;
            self.filled(n, rows);
        }
        session.execute(Phase::Rows, Some(table.name), "commit")?;
        self.filled(n, 0);
        self.expect_rows(n)
    }

    /// Fills a table together with others.
    fn fill_share(&self, n: usize, session: &mut Session<'_>, buffer: &mut CopyBuf) -> Result<(), LoadError> {
        let table = &self.tables[n];
        self.filling(n);
        let sql = format!("copy {} from stdin", name(table));
        let chunks = || self.board().schedule.chunk(n);
        let rows = session.copy(table.name, &sql, |writer, halt| {
            send(table, chunks, buffer, writer, &self.sent[n], halt, self.progress)
        })?;
        self.filled(n, rows);
        Ok(())
    }

    /// Once nobody fills it any more.
    fn expect_rows(&self, n: usize) -> Result<(), LoadError> {
        let (table, found) = (&self.tables[n], self.board().tables[n].rows);
        if table.rows.admits(found) {
            return Ok(());
        }
        Err(LoadError::RowCount { table: table.name.to_owned(), expected: table.rows.to_string(), found })
    }

    fn filling(&self, n: usize) {
        let filled = &mut self.board().tables[n];
        filled.began.get_or_insert_with(Instant::now);
        filled.loaders += 1;
    }

    fn filled(&self, n: usize, rows: u64) {
        let filled = &mut self.board().tables[n];
        filled.rows += rows;
        filled.copy_bytes = self.sent[n].bytes();
        filled.ended = Some(Instant::now());
    }

    fn began(&self, phase: Phase) {
        let now = Instant::now();
        let mut board = self.board();
        if board.spans.iter().all(|span| span.phase != phase) {
            board.spans.push(Span { phase, began: now, ended: now });
            drop(board);
            (self.progress)(&Progress::Phase(phase));
        }
    }

    fn ended(&self, phase: Phase) {
        let mut board = self.board();
        if let Some(span) = board.spans.iter_mut().find(|span| span.phase == phase) {
            span.ended = Instant::now();
        }
        let step = board.steps.iter_mut().find(|step| step.0 == phase).map(|step| {
            step.1 += 1;
            *step
        });
        drop(board);
        if let Some((phase, done, total)) = step {
            (self.progress)(&Progress::Step { phase, done, total });
        }
    }

    /// A table is ours from the transaction on that creates it.
    fn create_sql(&self, table: &Table) -> String {
        format!("{}; comment on table {} is {}", table.ddl, name(table), self.mark)
    }
}

fn name(table: &Table) -> String {
    quote::identifier(table.name)
}

fn phase(task: Task) -> Phase {
    match task {
        Task::Whole(_) | Task::Share(_) => Phase::Rows,
        Task::Freeze(_) => Phase::Freeze,
        Task::Index(..) => Phase::Indexes,
        Task::Analyze(_) => Phase::Analyze,
    }
}

fn job(table: &Table) -> Job {
    Job {
        bytes: table.bytes,
        chunks: table.source.as_ref().map_or(0, |source| source.chunks()),
        // CREATE INDEX locks a table against writers, not against another CREATE INDEX; ALTER TABLE against all.
        indexes: table.indexes.iter().map(|sql| sql.trim_start().to_lowercase().starts_with("create")).collect(),
    }
}
