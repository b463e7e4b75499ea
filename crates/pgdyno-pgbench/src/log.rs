//! The log of `--log`: a line for each transaction, or for each interval of `--aggregate-interval`.
//!
//! Lines are appended to buffers by [`TxLog`]; [`LogFiles`] writes them, a file for each engine thread.

mod aggregate;
mod digits;
mod files;
mod merge;
mod raw;

pub use aggregate::Aggregator;
pub use files::{LogFiles, ThreadLog};
pub use merge::{MergeError, merge_aggregates, merge_raw};
pub use raw::write_raw;

use crate::stats::Accounting;
use crate::transaction::TxRecord;

/// Default of `--log-prefix`.
pub const DEFAULT_PREFIX: &str = "pgbench_log";

/// Returns the name of a thread's log file: `PREFIX.PID` for the first thread (0), `PREFIX.PID.THREAD` for the others.
#[must_use]
pub fn file_name(prefix: &str, pid: u32, thread: u32) -> String {
    if thread == 0 { format!("{prefix}.{pid}") } else { format!("{prefix}.{pid}.{thread}") }
}

/// The log of one thread.
#[derive(Clone, Debug)]
pub struct TxLog {
    accounting: Accounting,
    sampling_rate: Option<f64>,
    aggregator: Option<Aggregator>,
}

impl TxLog {
    /// Returns a log with a line for each transaction, or for a random share of them with `--sampling-rate` (above 0,
    /// at most 1).
    #[must_use]
    pub fn raw(accounting: Accounting, sampling_rate: Option<f64>) -> Self {
        Self { accounting, sampling_rate, aggregator: None }
    }

    /// Returns a log with a line for each interval.
    #[must_use]
    pub fn aggregate(aggregator: Aggregator) -> Self {
        Self { accounting: aggregator.accounting(), sampling_rate: None, aggregator: Some(aggregator) }
    }

    /// Logs one transaction: appends a line or none, or several if intervals have ended.
    ///
    /// `draw` returns uniform numbers in `[0, 1)`, pgbench's `pg_prng_double` of the thread's sampling stream. It is
    /// called once for each transaction with a sampling rate, and never without one.
    pub fn record(&mut self, tx: &TxRecord, draw: impl FnOnce() -> f64, out: &mut Vec<u8>) {
        if self.sampling_rate.is_some_and(|rate| draw() > rate) {
            return;
        }
        match &mut self.aggregator {
            Some(aggregator) => aggregator.record(tx, out),
            None => write_raw(&self.accounting, tx, out),
        }
    }

    /// Ends the log: see [`Aggregator::finish`]. Does nothing for raw logs.
    pub fn finish(&mut self, end_epoch_us: i64, keep_partial: bool, out: &mut Vec<u8>) {
        if let Some(aggregator) = &mut self.aggregator {
            aggregator.finish(end_epoch_us, keep_partial, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thread_has_no_number() {
        assert_eq!(file_name(DEFAULT_PREFIX, 4711, 0), "pgbench_log.4711");
        assert_eq!(file_name("/tmp/x", 4711, 3), "/tmp/x.4711.3");
    }

    #[test]
    fn a_draw_at_the_rate_is_logged_and_one_above_is_not() {
        let mut log = TxLog::raw(Accounting::default(), Some(0.5));
        let mut out = Vec::new();
        for (number, draw) in [0.4, 0.5, 0.500_001, 0.9, 0.0].into_iter().enumerate() {
            log.record(&TxRecord { number: number as u64, ..TxRecord::default() }, || draw, &mut out);
        }
        assert_eq!(String::from_utf8(out).unwrap(), "0 0 0 0 0 0\n0 1 0 0 0 0\n0 4 0 0 0 0\n");
    }

    #[test]
    fn nothing_is_drawn_without_a_rate() {
        let mut out = Vec::new();
        let mut log = TxLog::raw(Accounting::default(), None);
        log.record(&TxRecord::default(), || panic!("a number was drawn"), &mut out);
        log.finish(i64::MAX, true, &mut out);
        assert_eq!(out, b"0 0 0 0 0 0\n");
    }
}
