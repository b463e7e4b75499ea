//! Keeps each execution of a workload of few large queries: when it began and ended, in which stage and client.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_engine::{Observer, TxEnd, TxOutcome};
use pgdyno_results::{Execution, write_executions};

/// Largest number of executions that are kept.
const EXECUTIONS_MAX: usize = 10_000;

/// The executions of a run.
pub(super) struct Executions {
    /// Names of stages and transactions, in the order of their numbers.
    stages: Vec<String>,
    txns: Vec<String>,
    /// Number of the stages that have begun, and the time of day at which the first did.
    begun: usize,
    epoch_ns: Option<u64>,
    kept: Arc<Mutex<Vec<Execution>>>,
}

impl Executions {
    pub(super) fn new(stages: Vec<String>, txns: Vec<String>) -> Self {
        Self { stages, txns, begun: 0, epoch_ns: None, kept: Arc::default() }
    }

    /// Returns the observer of one thread in the next stage, which begins with its first thread. `epoch_ns` is the time
    /// of day at which the stage's time is 0.
    pub(super) fn observer(&mut self, thread: usize, epoch_ns: u64) -> Box<dyn Observer> {
        self.begun += usize::from(thread == 0);
        let since_ns = epoch_ns.saturating_sub(*self.epoch_ns.get_or_insert(epoch_ns));
        let stage = self.stages.get(self.begun.saturating_sub(1)).cloned().unwrap_or_default();
        Box::new(OfThread { stage, txns: self.txns.clone(), since_ns, kept: Arc::clone(&self.kept) })
    }

    /// Writes them into the run directory, if there are any.
    pub(super) fn write(&self, directory: &Path) -> Result<(), String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        if kept.is_empty() { Ok(()) } else { write_executions(directory, &kept).map_err(|error| error.to_string()) }
    }
}

/// The observer of one engine thread in one stage.
struct OfThread {
    stage: String,
    txns: Vec<String>,
    /// Nanoseconds from the start of the first stage to that of this one.
    since_ns: u64,
    kept: Arc<Mutex<Vec<Execution>>>,
}

impl Observer for OfThread {
    fn transaction(&mut self, end: &TxEnd) {
        if end.outcome == TxOutcome::Skipped {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == EXECUTIONS_MAX {
            return;
        }
        let seconds = |ns: u64| (self.since_ns + ns) as f64 / 1e9;
        kept.push(Execution {
            stage: self.stage.clone(),
            client: end.client,
            transaction: self.txns.get(end.txn).cloned().unwrap_or_default(),
            start_s: seconds(end.begun.0),
            end_s: seconds(end.end.0),
            is_completed: end.outcome == TxOutcome::Completed,
        });
    }
}

/// Two observers of the same transactions.
pub(super) struct Both(pub(super) Box<dyn Observer>, pub(super) Box<dyn Observer>);

impl Observer for Both {
    fn transaction(&mut self, end: &TxEnd) {
        self.0.transaction(end);
        self.1.transaction(end);
    }

    fn finish(&mut self, end: pgdyno_engine::Tick) {
        self.0.finish(end);
        self.1.finish(end);
    }
}
