//! What a benchmark leaves behind.

use pgdyno_engine::RunOutcome;
use pgdyno_measure::Totals;
use pgdyno_workloads::scripted::Scripted;

/// A run that took place.
pub struct Ran {
    /// What the process exits with.
    pub exit_code: u8,
    /// What was run.
    pub workload: Scripted,
    /// What came of it.
    pub outcome: RunOutcome,
    /// The server's version, as it names itself.
    pub server_version: String,
    /// The number of branches, or what the user says it is.
    pub scale: u64,
}

impl Ran {
    /// All that the report counts: the measured window and what ended after it, as one.
    #[must_use]
    pub fn counted(&self) -> Totals {
        self.outcome.measured.and(&self.outcome.drain)
    }
}
