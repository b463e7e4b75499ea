//! The lines of `--aggregate-interval`.

use crate::stats::{Accounting, Stats};
use crate::transaction::TxRecord;

/// Adds up transactions by intervals, and writes a line when an interval has ended:
///
/// ```text
/// start count sum_latency sum_latency_2 min_latency max_latency sum_lag sum_lag_2 min_lag max_lag
///     skipped retried retries serialization_failures deadlock_failures [other_failures]
/// ```
///
/// `start` is in seconds since 1970, times are in microseconds. All columns are always present, with 0 if an option was
/// not given; the last one only with `--continue-on-error`. An interval without transactions has a line, too.
#[derive(Clone, Debug)]
pub struct Aggregator {
    accounting: Accounting,
    interval_us: i64,
    start_us: i64,
    stats: Stats,
}

impl Aggregator {
    /// Returns an aggregator for intervals of `interval_s` seconds (at least 1). The first one starts at the whole
    /// second before the start.
    #[must_use]
    pub fn new(accounting: Accounting, interval_s: u32, start_epoch_us: i64) -> Self {
        let start_us = start_epoch_us.div_euclid(1_000_000) * 1_000_000;
        let interval_us = i64::from(interval_s.max(1)) * 1_000_000;
        Self { accounting, interval_us, start_us, stats: Stats::default() }
    }

    pub(super) fn accounting(&self) -> Accounting {
        self.accounting
    }

    /// Writes the intervals that ended before this transaction, and counts it in its interval.
    ///
    /// Records must be ordered by their ends. A late one is counted in the current interval.
    pub fn record(&mut self, tx: &TxRecord, out: &mut Vec<u8>) {
        self.advance(tx.end_epoch_us, out);
        self.stats.record(&self.accounting, tx);
    }

    /// Writes the intervals that ended before the run.
    ///
    /// The last, incomplete interval is dropped, as in pgbench; with `keep_partial` it is written if it has any
    /// transaction.
    pub fn finish(&mut self, end_epoch_us: i64, keep_partial: bool, out: &mut Vec<u8>) {
        self.advance(end_epoch_us, out);
        if keep_partial && self.stats.all() > 0 {
            self.write_line(out);
        }
        self.stats = Stats::default();
    }

    fn advance(&mut self, now_us: i64, out: &mut Vec<u8>) {
        while self.start_us.saturating_add(self.interval_us) <= now_us {
            self.write_line(out);
            self.start_us += self.interval_us;
            self.stats = Stats::default();
        }
    }

    fn write_line(&self, out: &mut Vec<u8>) {
        let Stats { transactions, latency, lag, skipped, retried, retries, .. } = self.stats;
        let start_s = self.start_us / 1_000_000;
        let shown = |shown: bool, count: u64| if shown { count } else { 0 };
        let skipped = shown(self.accounting.latency_limit_us.is_some(), skipped);
        let [retried, retries] = [retried, retries].map(|n| shown(self.accounting.retries(), n));
        let [serialization, deadlock, other] =
            [self.stats.serialization_failures, self.stats.deadlock_failures, self.stats.other_failures]
                .map(|n| shown(self.accounting.failures_detailed, n));
        let mut line = format!("{start_s} {transactions}");
        for moments in [latency, lag] {
            for value in [moments.sum_us, moments.sum2_us2, moments.min_us, moments.max_us] {
                line += &format!(" {value:.0}");
            }
        }
        line += &format!(" {skipped} {retried} {retries} {serialization} {deadlock}");
        if self.accounting.continue_on_error {
            line += &format!(" {other}");
        }
        line.push('\n');
        out.extend_from_slice(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::{TransactionError, TransactionOutcome};

    fn logged(accounting: Accounting, interval_s: u32, ends_s: &[f64], keep_partial: bool) -> String {
        let mut aggregator = Aggregator::new(accounting, interval_s, 100_700_000);
        let mut out = Vec::new();
        for &end_s in ends_s {
            let end_epoch_us = (end_s * 1e6) as i64;
            let tx = TxRecord { end_epoch_us, latency_us: 300.0, lag_us: 20.0, tries: 1, ..TxRecord::default() };
            aggregator.record(&tx, &mut out);
        }
        let end = ends_s.last().map_or(0, |s| (s * 1e6) as i64 + 1);
        aggregator.finish(end, keep_partial, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_first_interval_begins_at_the_whole_second_and_empty_ones_have_lines() {
        assert_eq!(
            logged(Accounting::default(), 1, &[100.8, 100.9, 103.0, 103.5, 104.0], false),
            "100 2 600 180000 300 300 0 0 0 0 0 0 0 0 0\n\
             101 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
             102 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
             103 2 600 180000 300 300 0 0 0 0 0 0 0 0 0\n"
        );
    }

    #[test]
    fn the_last_interval_is_written_only_when_asked_for() {
        assert_eq!(logged(Accounting::default(), 5, &[100.8, 104.0], false), "");
        assert_eq!(
            logged(Accounting::default(), 5, &[100.8, 104.0], true),
            "100 2 600 180000 300 300 0 0 0 0 0 0 0 0 0\n"
        );
        assert_eq!(logged(Accounting::default(), 5, &[], true), "", "an empty one never");
    }

    #[test]
    fn an_interval_that_ends_with_the_run_is_whole() {
        let mut out = Vec::new();
        let mut aggregator = Aggregator::new(Accounting::default(), 2, 100_000_000);
        aggregator.record(&TxRecord { end_epoch_us: 100_000_001, ..TxRecord::default() }, &mut out);
        aggregator.finish(102_000_000, false, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "100 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    }

    #[test]
    fn columns_of_options_that_were_not_given_are_zero() {
        let plain = Accounting::default();
        let all = Accounting {
            throttled: true,
            latency_limit_us: Some(1),
            max_tries: 0,
            failures_detailed: true,
            continue_on_error: false,
        };
        for (accounting, text) in [
            (plain, "0 1 300 90000 300 300 0 0 0 0 0 0 0 0 0\n"),
            (Accounting { throttled: true, ..plain }, "0 1 300 90000 300 300 20 400 20 20 0 0 0 0 0\n"),
            (Accounting { max_tries: 3, ..plain }, "0 1 300 90000 300 300 0 0 0 0 0 2 6 0 0\n"),
            (Accounting { failures_detailed: true, ..plain }, "0 1 300 90000 300 300 0 0 0 0 0 0 0 1 2\n"),
            (all, "0 1 300 90000 300 300 20 400 20 20 1 2 6 1 2\n"),
            (Accounting { continue_on_error: true, ..all }, "0 1 300 90000 300 300 20 400 20 20 1 2 6 1 2 1\n"),
        ] {
            let mut aggregator = Aggregator::new(accounting, 1, 0);
            let mut out = Vec::new();
            for (outcome, tries) in [
                (TransactionOutcome::Ok, 4),
                (TransactionOutcome::Skipped, 1),
                (TransactionOutcome::Failed(TransactionError::Serialization), 4),
                (TransactionOutcome::Failed(TransactionError::Deadlock), 1),
                (TransactionOutcome::Failed(TransactionError::Deadlock), 1),
                (TransactionOutcome::Failed(TransactionError::Other), 1),
            ] {
                let tx = TxRecord { latency_us: 300.0, lag_us: 20.0, outcome, tries, ..TxRecord::default() };
                aggregator.record(&tx, &mut out);
            }
            aggregator.finish(1_000_000, false, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
