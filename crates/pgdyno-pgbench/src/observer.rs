//! Receives the events of a benchmark: for output files that pgbench does not have.

use pgdyno_measure::Interval;
use pgdyno_net::{Admin, ConnectOptions};

use crate::messages::ExitReason;
use crate::options::RunOptions;
use crate::run::ran::FinishedBenchmark;

/// Receives the events of one benchmark. pgbench's own output does not depend on it.
pub trait BenchmarkObserver {
    /// Called when the options were parsed, before anything is done.
    ///
    /// # Errors
    /// When the benchmark should not start: it ends here.
    fn options(&mut self, _options: &RunOptions) -> Result<(), ExitReason> {
        Ok(())
    }

    /// Called when the tables are ready, before the clients connect. `admin` is the connection that prepared them, to
    /// `target`.
    ///
    /// # Errors
    /// When the benchmark should not start: it ends here.
    fn set_up(&mut self, _target: &ConnectOptions, _admin: &mut Admin) -> Result<(), ExitReason> {
        Ok(())
    }

    /// Called when the clients are connected and start.
    fn started(&mut self) {}

    /// Called when an interval ended.
    fn interval(&mut self, _interval: &Interval) {}

    /// Called at the end, after the report was printed.
    ///
    /// # Errors
    /// Why output could not be written. If everything else succeeded, the exit code is that of this failure.
    fn ended(&mut self, _options: &RunOptions, _ran: &FinishedBenchmark) -> Result<(), ExitReason> {
        Ok(())
    }
}

/// Ignores all events.
impl BenchmarkObserver for () {}
