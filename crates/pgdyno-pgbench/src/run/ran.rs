//! The results of a benchmark.

use pgdyno_engine::RunOutcome;
use pgdyno_measure::Totals;
use pgdyno_workloads::scripted::Scripted;

/// A benchmark that has run.
pub struct FinishedBenchmark {
    /// The exit code of the process.
    pub exit_code: u8,
    /// The workload.
    pub workload: Scripted,
    /// The results of the engine.
    pub outcome: RunOutcome,
    /// The server's version, as it reports it.
    pub server_version: String,
    /// The number of branches, or the user's `-s`.
    pub scale: u64,
}

impl FinishedBenchmark {
    /// Returns everything that the report counts: the measured window and what ended after it.
    #[must_use]
    pub fn counted(&self) -> Totals {
        self.outcome.measured.and(&self.outcome.drain)
    }
}
