//! The text of a report, above the scripts.

use std::fmt;

use super::{RunLength, RunReport, fixed};
use crate::stats::{Accounting, Moments, Stats};

/// Returns `count (12.345%)` of all.
pub(super) fn share(count: u64, all: u64) -> String {
    format!("{count} ({}%)", fixed(100.0 * count as f64 / all as f64, 3))
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_options(f)?;
        // Without any transaction every figure would be 0 of 0.
        if self.total.all() == 0 {
            return Ok(());
        }
        write_outcomes(f, &self.accounting, &self.total, "")?;
        self.write_reconnects(f)?;
        self.write_latency(f)?;
        self.write_rate(f)?;
        self.write_scripts(f)
    }
}

impl RunReport {
    fn write_options(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.scripts.as_slice() {
            [one] => &one.name,
            _ => "multiple scripts",
        };
        writeln!(f, "transaction type: {what}")?;
        writeln!(f, "scaling factor: {}", self.scale)?;
        if let Some((method, partitions)) = self.partitions {
            writeln!(f, "partition method: {}\npartitions: {partitions}", method.name())?;
        }
        writeln!(f, "query mode: {}", self.query_mode.name())?;
        writeln!(f, "number of clients: {}", self.clients)?;
        writeln!(f, "number of threads: {}", self.threads)?;
        if self.accounting.max_tries != 0 {
            writeln!(f, "maximum number of tries: {}", self.accounting.max_tries)?;
        }
        let asked_for = match self.length {
            RunLength::Transactions(each) => {
                writeln!(f, "number of transactions per client: {each}")?;
                format!("/{}", u64::from(each) * u64::from(self.clients))
            }
            RunLength::Seconds(seconds) => {
                writeln!(f, "duration: {seconds} s")?;
                String::new()
            }
        };
        if let Some(warmup) = self.warmup {
            writeln!(f, "warmup time: {} s ({} transactions not counted)", warmup.seconds, warmup.transactions)?;
        }
        writeln!(f, "number of transactions actually processed: {}{asked_for}", self.total.transactions)
    }

    fn write_reconnects(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(reconnects) = self.reconnects else { return Ok(()) };
        writeln!(f, "number of connections lost: {}", reconnects.lost)?;
        writeln!(f, "longest outage = {} ms", fixed(0.001 * reconnects.longest_outage_us as f64, 3))
    }

    fn write_latency(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Accounting { throttled, latency_limit_us, .. } = self.accounting;
        let total = &self.total;
        if let Some(limit_us) = latency_limit_us {
            let late = if total.transactions > 0 { 100.0 * total.late as f64 / total.transactions as f64 } else { 0.0 };
            writeln!(
                f,
                "number of transactions above the {} ms latency limit: {}/{} ({}%)",
                fixed(limit_us as f64 / 1000.0, 1),
                total.late,
                total.transactions,
                fixed(late, 3)
            )?;
        }
        if throttled || self.progress || latency_limit_us.is_some() {
            write_moments(f, &total.latency, "")?;
        } else {
            // Latencies were not measured: computes the mean from the length of the run.
            let average_ms = 0.001 * self.duration_us as f64 * f64::from(self.clients) / total.all() as f64;
            let failures = if total.failures() > 0 { " (including failures)" } else { "" };
            writeln!(f, "latency average = {} ms{failures}", fixed(average_ms, 3))?;
        }
        if let Some(percentiles) = &self.percentiles {
            percentiles.write_lines(f, percentiles.total.as_ref(), "")?;
        }
        if throttled {
            let average_ms = 0.001 * total.lag.sum_us / total.transactions as f64;
            let (average, max) = (fixed(average_ms, 3), fixed(0.001 * total.lag.max_us, 3));
            writeln!(f, "rate limit schedule lag: avg {average} (max {max}) ms")?;
        }
        Ok(())
    }

    fn write_rate(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connection_ms = 0.001 * self.connection_us as f64;
        let tps = fixed(self.per_second(self.total.transactions), 6);
        if self.connect {
            let average_ms = connection_ms / (self.total.transactions + self.total.failures()) as f64;
            writeln!(f, "average connection time = {} ms", fixed(average_ms, 3))?;
            writeln!(f, "tps = {tps} (including reconnection times)")
        } else {
            writeln!(f, "initial connection time = {} ms", fixed(connection_ms, 3))?;
            writeln!(f, "tps = {tps} (without initial connection time)")
        }
    }

    pub(super) fn per_second(&self, transactions: u64) -> f64 {
        transactions as f64 / (0.000_001 * self.duration_us as f64)
    }
}

/// Writes failed, retried and skipped transactions, of all or of a script.
pub(super) fn write_outcomes(
    f: &mut fmt::Formatter<'_>,
    accounting: &Accounting,
    stats: &Stats,
    prefix: &str,
) -> fmt::Result {
    let all = stats.all();
    writeln!(f, "{prefix}number of failed transactions: {}", share(stats.failures(), all))?;
    if accounting.failures_detailed {
        writeln!(f, "{prefix}number of serialization failures: {}", share(stats.serialization_failures, all))?;
        writeln!(f, "{prefix}number of deadlock failures: {}", share(stats.deadlock_failures, all))?;
        if accounting.continue_on_error {
            writeln!(f, "{prefix}number of other failures: {}", share(stats.other_failures, all))?;
        }
    }
    if accounting.retries() {
        writeln!(f, "{prefix}number of transactions retried: {}", share(stats.retried, all))?;
        writeln!(f, "{prefix}total number of retries: {}", stats.retries)?;
    }
    if accounting.skips() {
        writeln!(f, "{prefix}number of transactions skipped: {}", share(stats.skipped, all))?;
    }
    Ok(())
}

/// Writes average and deviation; nothing if latencies were not measured.
pub(super) fn write_moments(f: &mut fmt::Formatter<'_>, latency: &Moments, prefix: &str) -> fmt::Result {
    if latency.count == 0 {
        return Ok(());
    }
    writeln!(f, "{prefix}latency average = {} ms", fixed(0.001 * latency.mean_us(), 3))?;
    writeln!(f, "{prefix}latency stddev = {} ms", fixed(0.001 * latency.stddev_us(), 3))
}
