//! pgbench's statistics: transactions by outcome, and sums of their latencies and lags.
//!
//! Latencies are summed in microseconds as double precision numbers: whole microseconds give the same sums in whatever
//! order threads are merged, and reports equal pgbench's to the last digit.

use crate::transaction::{TransactionError, TransactionOutcome, TxRecord};

/// The options that decide which figures are recorded, logged and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accounting {
    /// `--rate`: lags are recorded.
    pub throttled: bool,
    /// `--latency-limit` in whole microseconds.
    pub latency_limit_us: Option<u64>,
    /// `--max-tries`; 0 means no limit. Retries are shown unless it is 1.
    pub max_tries: u32,
    /// `--failures-detailed`.
    pub failures_detailed: bool,
    /// `--continue-on-error`: there are failures other than serialization failures and deadlocks.
    pub continue_on_error: bool,
}

impl Default for Accounting {
    /// Returns pgbench's defaults: one try, no other options.
    fn default() -> Self {
        Self {
            throttled: false,
            latency_limit_us: None,
            max_tries: 1,
            failures_detailed: false,
            continue_on_error: false,
        }
    }
}

impl Accounting {
    /// Returns true if retries are shown.
    #[must_use]
    pub fn retries(&self) -> bool {
        self.max_tries != 1
    }

    /// Returns true if transactions may be skipped, and their number is shown.
    #[must_use]
    pub fn skips(&self) -> bool {
        self.throttled && self.latency_limit_us.is_some()
    }
}

/// Number, extremes and sums of a series of durations in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// The number of durations.
    pub count: u64,
    /// The least; 0 without durations.
    pub min_us: f64,
    /// The greatest; 0 without durations.
    pub max_us: f64,
    /// Their sum.
    pub sum_us: f64,
    /// The sum of their squares.
    pub sum2_us2: f64,
}

impl Moments {
    /// Adds one duration.
    pub fn add(&mut self, us: f64) {
        self.merge(&Self { count: 1, min_us: us, max_us: us, sum_us: us, sum2_us2: us * us });
    }

    /// Adds another series.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 || other.min_us < self.min_us {
            self.min_us = other.min_us;
        }
        if self.count == 0 || other.max_us > self.max_us {
            self.max_us = other.max_us;
        }
        self.count += other.count;
        self.sum_us += other.sum_us;
        self.sum2_us2 += other.sum2_us2;
    }

    /// Returns the mean; NaN without durations.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        self.sum_us / self.count as f64
    }

    /// Returns the standard deviation of the series itself (not of a sample), computed from the sums as pgbench does.
    ///
    /// NaN without durations; 0 if rounding makes the variance negative.
    #[must_use]
    pub fn stddev_us(&self) -> f64 {
        let mean = self.mean_us();
        root(self.sum2_us2 / self.count as f64 - mean * mean)
    }
}

/// Returns the square root of a variance, which is negative only because of rounding.
pub(crate) fn root(variance: f64) -> f64 {
    if variance < 0.0 { 0.0 } else { variance.sqrt() }
}

/// Transactions by outcome.
///
/// Every transaction is counted in exactly one of `transactions`, `skipped` and the three kinds of failures:
///
/// - all transactions = `transactions` + `skipped` + failures;
/// - failures = `serialization_failures` + `deadlock_failures` + `other_failures`;
/// - `latency.count` = `transactions`, and `lag.count` = `transactions` under `--rate`, else 0;
/// - `retried` ≤ `transactions` + failures, and `retried` ≤ `retries`;
/// - `late` ≤ `transactions`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Processed successfully, at whichever try.
    pub transactions: u64,
    /// Never started, because they were later than the latency limit (`--rate` with `--latency-limit`).
    pub skipped: u64,
    /// Tries after the first, of all transactions, successful in the end or not.
    pub retries: u64,
    /// Transactions with more than one try, successful in the end or not.
    pub retried: u64,
    /// Failed in the end by a serialization failure.
    pub serialization_failures: u64,
    /// Failed in the end by a deadlock.
    pub deadlock_failures: u64,
    /// Failed by another SQL error (`--continue-on-error`).
    pub other_failures: u64,
    /// Latencies of `transactions`, from the scheduled start.
    pub latency: Moments,
    /// Lags of `transactions` behind their scheduled start, with `--rate`.
    pub lag: Moments,
    /// Number of `transactions` that took longer than the latency limit.
    pub late: u64,
}

impl Stats {
    /// Counts one transaction.
    pub fn record(&mut self, accounting: &Accounting, tx: &TxRecord) {
        if tx.outcome == TransactionOutcome::Skipped {
            self.skipped += 1;
            return;
        }
        if tx.tries > 1 {
            self.retries += u64::from(tx.tries - 1);
            self.retried += 1;
        }
        match tx.outcome {
            TransactionOutcome::Failed(TransactionError::Serialization) => self.serialization_failures += 1,
            TransactionOutcome::Failed(TransactionError::Deadlock) => self.deadlock_failures += 1,
            TransactionOutcome::Failed(TransactionError::Other) => self.other_failures += 1,
            TransactionOutcome::Ok | TransactionOutcome::Skipped => {
                self.transactions += 1;
                self.latency.add(tx.latency_us);
                if accounting.throttled {
                    self.lag.add(tx.lag_us);
                }
                if accounting.latency_limit_us.is_some_and(|limit| tx.latency_us > limit as f64) {
                    self.late += 1;
                }
            }
        }
    }

    /// Adds the counts of another thread or script.
    pub fn merge(&mut self, other: &Self) {
        self.transactions += other.transactions;
        self.skipped += other.skipped;
        self.retries += other.retries;
        self.retried += other.retried;
        self.serialization_failures += other.serialization_failures;
        self.deadlock_failures += other.deadlock_failures;
        self.other_failures += other.other_failures;
        self.latency.merge(&other.latency);
        self.lag.merge(&other.lag);
        self.late += other.late;
    }

    /// Returns the number of failed transactions.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.serialization_failures + self.deadlock_failures + self.other_failures
    }

    /// Returns the number of all transactions: successful, failed and skipped.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.transactions + self.failures() + self.skipped
    }
}

/// The figures of `--report-per-command` for one command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandStats {
    /// The command's first line.
    pub text: String,
    /// How long each successful execution took.
    pub latency: Moments,
    /// Transactions that finally failed here.
    pub failures: u64,
    /// Tries that failed here and were repeated.
    pub retries: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transaction::tests::{accountings, records};

    #[test]
    fn mean_and_deviation_of_known_series() {
        let mut moments = Moments::default();
        for us in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            moments.add(us);
        }
        assert_eq!((moments.mean_us(), moments.stddev_us()), (5.0, 2.0));
        assert_eq!((moments.count, moments.min_us, moments.max_us), (8, 2.0, 9.0));
    }

    #[test]
    fn one_duration_does_not_deviate_from_itself() {
        // Its square is rounded: the difference is -64.
        let one = Moments {
            count: 1,
            sum_us: 700_123_456.789,
            sum2_us2: 700_123_456.789 * 700_123_456.789 - 64.0,
            ..Moments::default()
        };
        assert_eq!(one.stddev_us(), 0.0);
    }

    #[test]
    fn an_empty_series_has_no_mean_and_adds_nothing() {
        let empty = Moments::default();
        assert!(empty.mean_us().is_nan() && empty.stddev_us().is_nan());
        let mut one = Moments::default();
        one.add(7.0);
        let before = one;
        one.merge(&empty);
        assert_eq!(one, before);
    }

    #[test]
    fn a_latency_equal_to_the_limit_is_not_late() {
        let accounting = Accounting { latency_limit_us: Some(500), ..Accounting::default() };
        let mut stats = Stats::default();
        for latency_us in [499.0, 500.0, 501.0] {
            stats.record(&accounting, &TxRecord { latency_us, ..TxRecord::default() });
        }
        assert_eq!((stats.transactions, stats.late), (3, 1));
    }

    fn tally(accounting: &Accounting, records: &[TxRecord]) -> Stats {
        let mut stats = Stats::default();
        records.iter().for_each(|tx| stats.record(accounting, tx));
        stats
    }

    proptest! {
        #[test]
        fn the_identities_hold(accounting in accountings(), records in records(80)) {
            let stats = tally(&accounting, &records);
            prop_assert_eq!(stats.all(), records.len() as u64);
            let failed = records.iter().filter(|tx| matches!(tx.outcome, TransactionOutcome::Failed(_))).count();
            prop_assert_eq!(stats.failures(), failed as u64);
            prop_assert_eq!(stats.latency.count, stats.transactions);
            prop_assert_eq!(stats.lag.count, if accounting.throttled { stats.transactions } else { 0 });
            prop_assert!(stats.retried <= stats.transactions + stats.failures());
            prop_assert!(stats.retried <= stats.retries);
            prop_assert!(stats.late <= stats.transactions);
            prop_assert!(accounting.latency_limit_us.is_some() || stats.late == 0);
        }

        /// Every field of merged statistics is the sum of its parts: no field is forgotten or assigned.
        #[test]
        fn merging_adds_every_field(accounting in accountings(), records in records(80), cut in 0usize..80) {
            let cut = cut.min(records.len());
            let mut merged = tally(&accounting, &records[..cut]);
            merged.merge(&tally(&accounting, &records[cut..]));
            prop_assert_eq!(merged, tally(&accounting, &records));
        }
    }
}
