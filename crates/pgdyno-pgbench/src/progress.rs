//! The lines of `--progress`.

use crate::report::fixed;
use crate::stats::{Accounting, Stats, root};

/// The state of a run at a time: the statistics of all threads since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The time in microseconds since the start; 0 without statistics is the first snapshot of a run.
    ///
    /// The start is that of the first thread, before it connected.
    pub at_us: u64,
    /// All statistics until then.
    pub stats: Stats,
}

/// The format of the time in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeFormat {
    /// Seconds since the start.
    Elapsed,
    /// Seconds since 1970 (`--progress-timestamp`), for a run that started then.
    Epoch {
        /// The start, in microseconds since 1970.
        start_us: i64,
    },
}

/// Returns the line for the time between two snapshots, with its line end:
///
/// ```text
/// progress: 1.0 s, 1027.6 tps, lat 1.523 ms stddev 3.193, 0 failed, lag 0.928 ms, 0 skipped, 0 retried, 0 retries
/// ```
///
/// Transactions per second are the successful ones; latency, deviation and lag are 0 without any. The lag is shown with
/// `--rate`, skipped transactions with `--latency-limit` too, retries unless `--max-tries` is 1.
#[must_use]
pub fn progress_line(accounting: &Accounting, clock: TimeFormat, last: &Snapshot, now: &Snapshot) -> String {
    let between = |count: fn(&Stats) -> u64| count(&now.stats).saturating_sub(count(&last.stats));
    let run_us = now.at_us.saturating_sub(last.at_us) as f64;
    let transactions = between(|s| s.transactions);
    let tps = 1_000_000.0 * transactions as f64 / run_us;
    let (mut latency_ms, mut stddev_ms, mut lag_ms) = (0.0, 0.0, 0.0);
    if transactions > 0 {
        // Multiplied before it is divided, as pgbench does: a mean half-way between two printed ones is rounded as pgbench rounds it.
        let mean =
            |unit: f64, sum: fn(&Stats) -> f64| unit * (sum(&now.stats) - sum(&last.stats)) / transactions as f64;
        latency_ms = mean(0.001, |s| s.latency.sum_us);
        stddev_ms = 0.001 * root(mean(1.0, |s| s.latency.sum2_us2) - 1_000_000.0 * latency_ms * latency_ms);
        lag_ms = mean(0.001, |s| s.lag.sum_us);
    }
    let at = match clock {
        TimeFormat::Elapsed => fixed(now.at_us as f64 / 1_000_000.0, 1),
        TimeFormat::Epoch { start_us } => fixed((start_us as f64 + now.at_us as f64) / 1_000_000.0, 3),
    };
    let mut line = format!(
        "progress: {at} s, {} tps, lat {} ms stddev {}, {} failed",
        fixed(tps, 1),
        fixed(latency_ms, 3),
        fixed(stddev_ms, 3),
        between(Stats::failures)
    );
    if accounting.throttled {
        line += &format!(", lag {} ms", fixed(lag_ms, 3));
    }
    if accounting.skips() {
        line += &format!(", {} skipped", between(|s| s.skipped));
    }
    if accounting.retries() {
        line += &format!(", {} retried, {} retries", between(|s| s.retried), between(|s| s.retries));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::{TransactionError, TransactionOutcome, TxRecord};

    const ALL: Accounting = Accounting {
        throttled: true,
        latency_limit_us: Some(1_000_000),
        max_tries: 0,
        failures_detailed: true,
        continue_on_error: true,
    };

    /// Two seconds with transactions, then one without.
    fn snapshots() -> [Snapshot; 3] {
        let mut stats = Stats::default();
        let ok = |latency_us, lag_us, tries| TxRecord { latency_us, lag_us, tries, ..TxRecord::default() };
        stats.record(&ALL, &ok(90_000.0, 70_000.0, 1));
        let first = Snapshot { at_us: 1_000_049, stats };
        for tx in [ok(1_000.0, 200.0, 1), ok(2_000.0, 300.0, 3), ok(4_500.0, 0.0, 1)] {
            stats.record(&ALL, &tx);
        }
        for outcome in [
            TransactionOutcome::Skipped,
            TransactionOutcome::Skipped,
            TransactionOutcome::Failed(TransactionError::Other),
        ] {
            stats.record(&ALL, &TxRecord { outcome, tries: 2, ..TxRecord::default() });
        }
        [first, Snapshot { at_us: 3_000_100, stats }, Snapshot { at_us: 4_000_100, stats }]
    }

    #[test]
    fn a_mean_between_two_printed_ones_is_rounded_as_pgbench_rounds_it() {
        let accounting = Accounting { throttled: true, ..Accounting::default() };
        let mut stats = Stats::default();
        for us in [20_029.0, 20_029.0, 20_029.0, 20_030.0, 20_030.0, 20_030.0] {
            stats.record(&accounting, &TxRecord { latency_us: us, lag_us: us, tries: 1, ..TxRecord::default() });
        }
        let now = Snapshot { at_us: 1_000_000, stats };
        let line = progress_line(&accounting, TimeFormat::Elapsed, &Snapshot::default(), &now);
        assert!(line.contains(" lat 20.030 ms ") && line.contains(" lag 20.030 ms"), "{line}");
    }

    #[test]
    fn every_combination_of_options() {
        let plain = Accounting::default();
        let [first, second, third] = snapshots();
        let start = Snapshot::default();
        for (accounting, last, now, text) in [
            (plain, start, first, "progress: 1.0 s, 1.0 tps, lat 90.000 ms stddev 0.000, 0 failed\n"),
            (plain, first, second, "progress: 3.0 s, 1.5 tps, lat 2.500 ms stddev 1.472, 1 failed\n"),
            (plain, second, third, "progress: 4.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed\n"),
            (
                Accounting { throttled: true, ..plain },
                first,
                second,
                "progress: 3.0 s, 1.5 tps, lat 2.500 ms stddev 1.472, 1 failed, lag 0.167 ms\n",
            ),
            (
                Accounting { latency_limit_us: Some(1), ..plain },
                first,
                second,
                "progress: 3.0 s, 1.5 tps, lat 2.500 ms stddev 1.472, 1 failed\n",
            ),
            (
                Accounting { max_tries: 2, ..plain },
                first,
                second,
                "progress: 3.0 s, 1.5 tps, lat 2.500 ms stddev 1.472, 1 failed, 2 retried, 3 retries\n",
            ),
            (
                ALL,
                first,
                second,
                "progress: 3.0 s, 1.5 tps, lat 2.500 ms stddev 1.472, 1 failed, lag 0.167 ms, 2 skipped, 2 retried, 3 retries\n",
            ),
            (
                ALL,
                second,
                third,
                "progress: 4.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed, lag 0.000 ms, 0 skipped, 0 retried, 0 retries\n",
            ),
        ] {
            assert_eq!(progress_line(&accounting, TimeFormat::Elapsed, &last, &now), text);
        }
    }

    #[test]
    fn a_timestamp_has_milliseconds() {
        let [first, ..] = snapshots();
        let clock = TimeFormat::Epoch { start_us: 1_795_308_392_422_951 };
        assert_eq!(
            progress_line(&Accounting::default(), clock, &Snapshot::default(), &first),
            "progress: 1795308393.423 s, 1.0 tps, lat 90.000 ms stddev 0.000, 0 failed\n"
        );
    }
}
