//! Keeps each execution of large queries: when it began and ended, in which stage and client. Beside that, how many rows a
//! table had meanwhile, and which commits the queries saw.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_engine::{CommitClass, Observer, TxEnd, TxOutcome};
use pgdyno_measure::Interval;
use pgdyno_results::{Execution, ExecutionOutcome, write_executions};
use pgdyno_wire::{ErrorClass, SqlState};
use pgdyno_workload::{GroupWork, Growth, Marks, Stage};

use super::freshness::Commits;
use super::watch::memory::Peaks;

/// Largest number of executions that are kept.
const EXECUTIONS_MAX: usize = 10_000;

/// The executions of a run.
pub(crate) struct Executions {
    stages: Arc<[StageClients]>,
    /// Names of transactions, in the order of their numbers.
    txns: Arc<[String]>,
    growth: Option<Growth>,
    /// Time in seconds and committed transactions that made the table longer, after each interval of any stage.
    grown: Vec<(f64, u64)>,
    /// Number of the stages that have begun, and the time of day at which the first did.
    begun: usize,
    epoch_ns: Option<u64>,
    kept: Arc<Mutex<Vec<Execution>>>,
    commits: Arc<Mutex<Commits>>,
    peaks: Arc<Peaks>,
}

/// A stage with the clients whose work is queries.
struct StageClients {
    name: String,
    /// By client, whether its work is queries.
    queries: Vec<bool>,
}

/// What is left of them for the record.
pub(crate) struct Kept {
    pub(crate) executions: Vec<Execution>,
    /// Time in seconds and rows that were added until then.
    pub(crate) added: Vec<(f64, u64)>,
    pub(crate) commits: Commits,
}

impl Executions {
    /// Returns none if no group's work is queries.
    pub(crate) fn new(stages: &[Stage], clients: u32, txns: Vec<String>, growth: Option<Growth>) -> Option<Self> {
        let of_stage = |stage: &Stage| {
            let of_group = |group: &pgdyno_workload::Group| {
                std::iter::repeat_n(group.work == GroupWork::Queries, group.clients.number(clients) as usize)
            };
            StageClients { name: stage.name.to_owned(), queries: stage.groups.iter().flat_map(of_group).collect() }
        };
        let stages: Arc<[_]> = stages.iter().map(of_stage).collect();
        stages.iter().any(|stage| stage.queries.contains(&true)).then(|| Self {
            stages,
            txns: txns.into(),
            growth,
            grown: Vec::new(),
            begun: 0,
            epoch_ns: None,
            kept: Arc::default(),
            commits: Arc::default(),
            peaks: Arc::default(),
        })
    }

    /// Adds executions of other drivers, whose memory is not known.
    pub(super) fn add(&mut self, ended: &[Execution]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = EXECUTIONS_MAX.saturating_sub(kept.len());
        kept.extend(ended.iter().take(room).cloned());
    }

    /// Returns what has ended since it was asked last.
    pub(crate) fn take(&self) -> Vec<Execution> {
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the observer of one thread in a stage that is run alone.
    pub(crate) fn observer_in(&self, stage: usize) -> Box<dyn Observer> {
        self.of_thread(stage, 0)
    }

    /// Returns the peaks of the memory of sessions that run queries.
    pub(super) fn peaks(&self) -> Arc<Peaks> {
        Arc::clone(&self.peaks)
    }

    /// Returns the observer of one thread in the next stage, which begins with its first thread. `epoch_ns` is the time
    /// of day at which the stage's time is 0.
    pub(super) fn observer(&mut self, thread: usize, epoch_ns: u64) -> Box<dyn Observer> {
        self.begun += usize::from(thread == 0);
        let since_ns = epoch_ns.saturating_sub(*self.epoch_ns.get_or_insert(epoch_ns));
        self.of_thread(self.begun.saturating_sub(1), since_ns)
    }

    fn of_thread(&self, stage: usize, since_ns: u64) -> Box<dyn Observer> {
        Box::new(OfThread {
            stages: Arc::clone(&self.stages),
            stage,
            txns: Arc::clone(&self.txns),
            since_ns,
            kept: Arc::clone(&self.kept),
            commits: Arc::clone(&self.commits),
            peaks: Arc::clone(&self.peaks),
            processes: HashMap::new(),
        })
    }

    /// Adds what an interval committed.
    pub(super) fn interval(&mut self, interval: &Interval) {
        let Some(growth) = self.growth else { return };
        let mut kinds = self.txns.iter().zip(&interval.part.txns);
        let committed = kinds.find(|(name, _)| *name == growth.txn).map_or(0, |(_, txn)| txn.committed);
        let before = self.grown.last().map_or(0, |(_, all)| *all);
        self.grown.push((interval.end_ns as f64 / 1e9, before + committed));
    }

    /// Writes them into the run directory, if there are any, and returns them.
    pub(super) fn end(self, directory: &Path) -> (Kept, Result<(), String>) {
        let mut executions = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        executions.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let written = match executions.is_empty() {
            true => Ok(()),
            false => write_executions(directory, &executions).map_err(|error| error.to_string()),
        };
        let rows = self.growth.map_or(0, |growth| growth.rows_each);
        let added = self.grown.into_iter().map(|(at_s, committed)| (at_s, committed * rows)).collect();
        let commits = std::mem::take(&mut *self.commits.lock().unwrap_or_else(PoisonError::into_inner));
        (Kept { executions, added, commits }, written)
    }
}

/// The observer of one engine thread in one stage.
struct OfThread {
    stages: Arc<[StageClients]>,
    stage: usize,
    txns: Arc<[String]>,
    /// Nanoseconds from the start of the first stage to that of this one.
    since_ns: u64,
    kept: Arc<Mutex<Vec<Execution>>>,
    commits: Arc<Mutex<Commits>>,
    peaks: Arc<Peaks>,
    /// The server's process of each client that runs queries.
    processes: HashMap<u32, i32>,
}

impl OfThread {
    fn is_query(&self, client: u32) -> bool {
        let stage = self.stages.get(self.stage);
        stage.and_then(|stage| stage.queries.get(client as usize)).is_some_and(|is_query| *is_query)
    }

    fn keep(&self, end: &TxEnd, outcome: ExecutionOutcome) {
        let Some(stage) = self.stages.get(self.stage) else { return };
        if !self.is_query(end.client) {
            return;
        }
        let memory_bytes_max = self.processes.get(&end.client).and_then(|process| self.peaks.take(*process));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == EXECUTIONS_MAX {
            return;
        }
        kept.push(Execution {
            stage: stage.name.clone(),
            client: end.client,
            transaction: self.txns.get(end.txn).cloned().unwrap_or_default(),
            start_s: self.seconds(end.begun.0),
            end_s: self.seconds(end.end.0),
            outcome,
            memory_bytes_max,
        });
    }

    fn seconds(&self, ns: u64) -> f64 {
        (self.since_ns + ns) as f64 / 1e9
    }
}

impl Observer for OfThread {
    fn connected(&mut self, client: u32, process: i32, _: &str) {
        if self.is_query(client) {
            self.processes.insert(client, process);
            self.peaks.follow(process);
        }
    }

    fn transaction(&mut self, end: &TxEnd) {
        let outcome = match end.outcome {
            TxOutcome::Skipped => return,
            TxOutcome::Completed => ExecutionOutcome::Completed,
            TxOutcome::Failed(ErrorClass::Serialization) => ExecutionOutcome::Conflict,
            TxOutcome::Failed(ErrorClass::Canceled) => ExecutionOutcome::TimedOut,
            TxOutcome::Failed(_) => ExecutionOutcome::Failed,
        };
        self.keep(end, outcome);
    }

    fn marks(&mut self, end: &TxEnd, marks: Marks<'_>) {
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        match marks {
            // An order is a marker for the ledger of commits.
            Marks::None | Marks::Ordered(_) | Marks::Keyed { .. } => {}
            Marks::Wrote(number) => commits.wrote(self.stage, end.client, number, self.seconds(end.end.0)),
            Marks::Saw(seen) => commits.saw(self.stage, seen, self.seconds(end.begun.0)),
        }
    }

    fn unfinished(&mut self, end: &TxEnd) {
        self.keep(end, ExecutionOutcome::Unfinished);
    }
}

/// Two observers of the same transactions.
pub(super) struct Both(pub(super) Box<dyn Observer>, pub(super) Box<dyn Observer>);

impl Observer for Both {
    fn connected(&mut self, client: u32, process: i32, server: &str) {
        self.0.connected(client, process, server);
        self.1.connected(client, process, server);
    }

    fn transaction(&mut self, end: &TxEnd) {
        self.0.transaction(end);
        self.1.transaction(end);
    }

    fn marks(&mut self, end: &TxEnd, marks: Marks<'_>) {
        self.0.marks(end, marks);
        self.1.marks(end, marks);
    }

    fn commit(&mut self, end: &TxEnd, class: CommitClass, code: Option<SqlState>, marks: Marks<'_>) {
        self.0.commit(end, class, code, marks);
        self.1.commit(end, class, code, marks);
    }

    fn unfinished(&mut self, end: &TxEnd) {
        self.0.unfinished(end);
        self.1.unfinished(end);
    }

    fn finish(&mut self, end: pgdyno_engine::Tick) {
        self.0.finish(end);
        self.1.finish(end);
    }
}
