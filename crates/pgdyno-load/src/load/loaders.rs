//! The threads that load.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pgdyno_net::{Halt, LOOK_IN, quote};
use pgdyno_workload::{CopyBuf, Partitions, Table};

use crate::load::copy::{Sent, send};
use crate::load::distribute;
use crate::load::index_memory::set_index_memory;
use crate::load::plan::{FillPlan, index_statements};
use crate::load::schedule::{Next, Schedule, Task};
use crate::session::Session;
use crate::state::relations;
use crate::{LoadError, LoadPhase, LoadProgress};

/// Interval between two looks at the `Stop`, while a loader waits.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// State that all loaders share.
pub(crate) struct LoaderWork<'a> {
    pub(crate) tables: &'a [Table],
    loaders: usize,
    pub(crate) plan: &'a FillPlan,
    pub(crate) halt: &'a Halt<'a>,
    pub(crate) progress: &'a (dyn Fn(&LoadProgress<'_>) + Sync),
    board: Mutex<Board>,
    changed: Condvar,
    sent: Vec<Sent>,
}

struct Board {
    schedule: Schedule,
    /// The first error; later ones follow from it.
    error: Option<LoadError>,
    tables: Vec<Filled>,
    spans: Vec<Span>,
    /// Statements that are done, and their total, by phase.
    steps: Vec<(LoadPhase, usize, usize)>,
}

/// Progress of one table.
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

/// Time from the first statement of a phase to the end of its last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) phase: LoadPhase,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

impl<'a> LoaderWork<'a> {
    pub(crate) fn new(
        tables: &'a [Table],
        loaders: usize,
        plan: &'a FillPlan,
        halt: &'a Halt<'a>,
        progress: &'a (dyn Fn(&LoadProgress<'_>) + Sync),
    ) -> Self {
        let schedule = plan.schedule(tables, loaders);
        let steps = [LoadPhase::Log, LoadPhase::Freeze, LoadPhase::Indexes, LoadPhase::Analyze];
        let kept: Vec<_> = tables.iter().map(|table| plan.kept(table).map_or(0, |kept| kept.rows)).collect();
        let board = Board {
            error: None,
            tables: kept.iter().map(|rows| Filled { rows: *rows, ..Filled::default() }).collect(),
            spans: Vec::new(),
            steps: steps.map(|phase| (phase, 0, schedule.statements(phase))).to_vec(),
            schedule,
        };
        Self {
            tables,
            loaders,
            plan,
            halt,
            progress,
            board: Mutex::new(board),
            changed: Condvar::new(),
            sent: tables.iter().map(|_| Sent::default()).collect(),
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        // A loader that panicked has ended the load; later messages of others are only noted.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates missing tables that several loaders fill, then starts the loaders, a thread for each, and waits for
    /// all of them.
    pub(crate) fn run(&self, sessions: &mut [Session<'_>]) -> Result<(Vec<Filled>, Vec<Span>), LoadError> {
        self.create_split(sessions)?;
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

    /// Creates missing tables that several loaders fill.
    pub(crate) fn create_split(&self, sessions: &mut [Session<'_>]) -> Result<(), LoadError> {
        for (n, table) in self.tables.iter().enumerate() {
            if self.board().schedule.is_split(n) && self.plan.kept(table).is_none() {
                self.began(LoadPhase::Rows);
                self.create(table, &mut sessions[0], "begin")?;
                sessions[0].execute(LoadPhase::Rows, Some(table.name), "commit")?;
                self.ended(LoadPhase::Rows);
            }
        }
        Ok(())
    }

    /// Runs one loader.
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
        while let Some(task) = self.next(session) {
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

    /// Waits for the next task, and looks in on the session meanwhile. Returns `None` if nothing is left or everything must
    /// stop.
    fn next(&self, session: &mut Session<'_>) -> Option<Task> {
        let mut idle_since = Instant::now();
        let mut board = self.board();
        loop {
            if self.halt.is_set() {
                return None;
            }
            match board.schedule.take() {
                Next::Do(task) => return Some(task),
                Next::Finished => return None,
                Next::Wait if idle_since.elapsed() >= LOOK_IN => {
                    drop(board);
                    session.look_in();
                    idle_since = Instant::now();
                    board = self.board();
                }
                Next::Wait => {
                    let waited = self.changed.wait_timeout(board, POLL_INTERVAL);
                    board = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    fn perform(&self, task: Task, session: &mut Session<'_>, buffer: &mut CopyBuf) -> Result<(), LoadError> {
        let table = &self.tables[task.table()];
        let phase = phase(task);
        if !matches!(task, Task::FreezeBehind(_)) {
            self.began(phase);
        }
        match task {
            Task::Whole(n) => self.fill_whole(n, session, buffer)?,
            Task::Partition(n, nth) => self.fill_partition(n, nth, session, buffer)?,
            Task::Share(n, _) if self.plan.logbook.is_some() => self.fill_unit(n, session, buffer)?,
            Task::Share(n, _) => self.fill_share(n, session, buffer)?,
            Task::FreezeBehind(_) => {
                // Truncating the end would wait for those who add rows there.
                session.execute(phase, Some(table.name), &self.freeze_sql(table, ", truncate false"))?;
                return Ok(());
            }
            Task::Log(_) => {
                session.run(phase, Some(table.name), |admin| relations::set_unlogged(admin, &name(table), false))?;
            }
            Task::Freeze(n) => {
                self.expect_rows(n)?;
                if self.plan.unlogged {
                    // The commit of a transaction that changed only unlogged tables is not flushed at once, and rows
                    // near it cannot be marked all-visible before. The commit of another transaction flushes both.
                    session.execute(phase, Some(table.name), &self.mark_sql(table))?;
                }
                session.execute(phase, Some(table.name), &self.freeze_sql(table, ""))?;
            }
            Task::Index(_, index) => {
                self.set_workers(table, session)?;
                let logbook = self.plan.logbook.as_ref();
                let entry = logbook.map(|logbook| format!("begin; {}", logbook.index_sql(table.name, index)));
                let end = entry.is_some().then_some("commit");
                // The entry comes first: it blocks the next load while this one is in progress. Each statement is
                // sent by itself: a server that forwards an ALTER TABLE to its nodes forwards everything sent with
                // it.
                let statement = index_statements(table)[index].sql;
                for sql in entry.as_deref().into_iter().chain([statement]).chain(end) {
                    session.execute(phase, Some(table.name), sql)?;
                }
            }
            Task::Analyze(n) => {
                self.expect_rows(n)?;
                // A concurrent VACUUM sets the visibility map of pages that COPY FREEZE left.
                let vacuum = !self.plan.freeze_suffices && !self.board().schedule.vacuums(n);
                let verb = if vacuum { "vacuum analyze" } else { "analyze" };
                session.execute(phase, Some(table.name), &format!("{verb} {}", name(table)))?;
            }
        }
        self.ended(phase);
        Ok(())
    }

    /// Parallel workers speed up an index only while loaders are idle: as many as that, with the memory that idle loaders
    /// do not need. Beside as many busy loaders as CPUs they take CPUs from the loaders, and cost a quarter more CPU time.
    fn set_workers(&self, table: &Table, session: &mut Session<'_>) -> Result<(), LoadError> {
        let idle = self.board().schedule.idle_loaders();
        session.run(LoadPhase::Indexes, Some(table.name), |admin| {
            set_index_memory(admin, self.plan.conditions.server.shared_buffers_bytes, self.loaders, idle)?;
            let usual =
                admin.query_opt("reset max_parallel_maintenance_workers; show max_parallel_maintenance_workers")?;
            let usual: usize = usual.and_then(|usual| usual.parse().ok()).unwrap_or_default();
            let workers = match (idle, self.loaders) {
                (_, 1) => return Ok(()),
                (0, _) => 0,
                (idle, _) => idle.max(usual),
            };
            admin.execute(&format!("set max_parallel_maintenance_workers = {workers}")).map(drop)
        })
    }

    /// Creates, fills and freezes a table in one transaction. Does not freeze partitioned tables, nor those that are
    /// rewritten to become logged. Under `wal_level=minimal` PostgreSQL then writes no WAL for the rows.
    fn fill_whole(&self, n: usize, session: &mut Session<'_>, buffer: &mut CopyBuf) -> Result<(), LoadError> {
        let table = &self.tables[n];
        self.filling(n);
        self.create(table, session, &self.begin_sql())?;
        let all = 0..table.source.as_ref().map_or(0, |source| source.chunks());
        let mut rows = 0;
        if table.source.is_some() {
            let mut chunks = all.clone();
            let freeze = table.partitions == Partitions::None && !self.plan.unlogged;
            let sql = copy_sql(table, table.name, freeze);
            rows = session.copy(table.name, &sql, |writer, halt| {
                send(table, || chunks.next(), buffer, writer, &self.sent[n], halt, self.progress)
            })?;
            self.filled(n, rows);
        }
        session.execute(LoadPhase::Rows, Some(table.name), &self.commit_sql(table, &all, rows))?;
        self.filled(n, 0);
        self.expect_rows(n)
    }

    /// Empties, fills and freezes a partition in one transaction. Its rows need no WAL under `wal_level=minimal`, and
    /// no other transaction can have seen it.
    fn fill_partition(
        &self,
        n: usize,
        nth: usize,
        session: &mut Session<'_>,
        buffer: &mut CopyBuf,
    ) -> Result<(), LoadError> {
        let table = &self.tables[n];
        let partition = &table.partitions.known()[nth];
        self.filling_part(n);
        let sql = format!("begin; truncate table {}", quote::identifier(&partition.name));
        session.execute(LoadPhase::Rows, Some(table.name), &sql)?;
        let mut chunks = partition.chunks.iter().cloned().flatten();
        let rows =
            session.copy(table.name, &copy_sql(table, &partition.name, !self.plan.unlogged), |writer, halt| {
                send(table, || chunks.next(), buffer, writer, &self.sent[n], halt, self.progress)
            })?;
        session.execute(LoadPhase::Rows, Some(table.name), "commit")?;
        self.filled(n, rows);
        Ok(())
    }

    /// Fills a table together with other loaders.
    fn fill_share(&self, n: usize, session: &mut Session<'_>, buffer: &mut CopyBuf) -> Result<(), LoadError> {
        let table = &self.tables[n];
        self.filling(n);
        let sql = copy_sql(table, table.name, false);
        let chunks = || self.board().schedule.chunks(n).map(|chunk| chunk.start);
        let rows = session.copy_apart(table.name, &sql, |writer, halt| {
            send(table, chunks, buffer, writer, &self.sent[n], halt, self.progress)
        })?;
        self.filled(n, rows);
        Ok(())
    }

    /// Fills the next part of a table in a transaction, and notes it in the logbook.
    fn fill_unit(&self, n: usize, session: &mut Session<'_>, buffer: &mut CopyBuf) -> Result<(), LoadError> {
        let table = &self.tables[n];
        let Some(unit) = self.board().schedule.chunks(n) else {
            return Ok(());
        };
        self.filling_part(n);
        session.execute(LoadPhase::Rows, Some(table.name), &self.begin_sql())?;
        let mut chunks = unit.clone();
        let copy = copy_sql(table, table.relation_of(&unit), false);
        let rows = session.copy(table.name, &copy, |writer, halt| {
            send(table, || chunks.next(), buffer, writer, &self.sent[n], halt, self.progress)
        })?;
        session.execute(LoadPhase::Rows, Some(table.name), &self.commit_sql(table, &unit, rows))?;
        self.filled(n, rows);
        Ok(())
    }

    /// After all loaders have finished with it.
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

    fn filling_part(&self, n: usize) {
        let mut board = self.board();
        let sharing = board.schedule.sharing(n);
        let filled = &mut board.tables[n];
        filled.began.get_or_insert_with(Instant::now);
        filled.loaders = filled.loaders.max(sharing);
    }

    fn filled(&self, n: usize, rows: u64) {
        let filled = &mut self.board().tables[n];
        filled.rows += rows;
        filled.copy_bytes = self.sent[n].bytes();
        filled.ended = Some(Instant::now());
    }

    fn began(&self, phase: LoadPhase) {
        let now = Instant::now();
        let mut board = self.board();
        if board.spans.iter().all(|span| span.phase != phase) {
            board.spans.push(Span { phase, began: now, ended: now });
            drop(board);
            (self.progress)(&LoadProgress::Phase(phase));
        }
    }

    fn ended(&self, phase: LoadPhase) {
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
            (self.progress)(&LoadProgress::Step { phase, done, total });
        }
    }

    /// Creates a table, in a transaction that this begins, and distributes it over the nodes before it has rows. The
    /// table is pgdyno's after the transaction.
    fn create(&self, table: &Table, session: &mut Session<'_>, begin: &str) -> Result<(), LoadError> {
        let sql = format!("{begin}; {}; {}", table.ddl, self.mark_sql(table));
        session.execute(LoadPhase::Rows, Some(table.name), &sql)?;
        let was_spread = |table: &Table| self.plan.kept(table).is_some();
        if let Some(sql) = distribute::table_sql(&self.plan.conditions.caps, self.tables, was_spread, table) {
            session.execute(LoadPhase::Rows, Some(table.name), &sql)?;
        }
        if self.plan.unlogged {
            session
                .run(LoadPhase::Rows, Some(table.name), |admin| relations::set_unlogged(admin, &name(table), true))?;
        }
        Ok(())
    }

    /// Returns the VACUUM that freezes a table. Since PostgreSQL 16 it may use all buffers: in a ring of a few it waits for
    /// the WAL each time that it takes one again, which takes twice as long.
    fn freeze_sql(&self, table: &Table, more: &str) -> String {
        let limit = if self.plan.conditions.caps.major() >= 16 { ", buffer_usage_limit 0" } else { "" };
        format!("vacuum (freeze{limit}{more}) {}", name(table))
    }

    fn mark_sql(&self, table: &Table) -> String {
        format!("comment on table {} is {}", name(table), self.plan.mark)
    }

    fn begin_sql(&self) -> String {
        self.plan.logbook.as_ref().map_or("begin".to_owned(), |logbook| format!("begin; {}", logbook.lock_sql()))
    }

    fn commit_sql(&self, table: &Table, chunks: &Range<u64>, rows: u64) -> String {
        let logbook = self.plan.logbook.as_ref();
        logbook.map_or("commit".to_owned(), |logbook| format!("{}; commit", logbook.rows_sql(table.name, chunks, rows)))
    }
}

/// Returns the COPY of rows into a table or one of its partitions.
pub(crate) fn copy_sql(table: &Table, relation: &str, freeze: bool) -> String {
    let options = match (freeze, table.binary.is_empty()) {
        (false, true) => "",
        (true, true) => " with (freeze)",
        (false, false) => " with (format binary)",
        (true, false) => " with (freeze, format binary)",
    };
    format!("copy {} from stdin{options}", quote::identifier(relation))
}

fn name(table: &Table) -> String {
    quote::identifier(table.name)
}

fn phase(task: Task) -> LoadPhase {
    match task {
        Task::Whole(_) | Task::Partition(..) | Task::Share(..) => LoadPhase::Rows,
        Task::Log(_) => LoadPhase::Log,
        Task::FreezeBehind(_) | Task::Freeze(_) => LoadPhase::Freeze,
        Task::Index(..) => LoadPhase::Indexes,
        Task::Analyze(_) => LoadPhase::Analyze,
    }
}
