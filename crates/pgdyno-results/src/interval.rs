//! The stored interval: in `run.json`, in events, as a row of `intervals.csv`, and read back from these.

pub(crate) mod columns;
pub(crate) mod csv;

use pgdyno_measure::{GroupInterval, Interval, Latency, Phase, ThreadCounts, WorkerUsage};
use serde::{Deserialize, Serialize};

/// One interval of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalRecord {
    /// Number from 0, over all phases.
    pub interval: u64,
    /// `ramp`, `measure` or `drain`.
    pub phase: String,
    /// Start, since the clients began.
    pub start_s: f64,
    /// End, since the clients began.
    pub end_s: f64,
    /// Committed transactions a second.
    pub tps: f64,
    /// Transactions that were begun.
    pub started: u64,
    /// Transactions whose work is committed.
    pub committed: u64,
    /// Transactions that the workload itself rolled back.
    pub rolled_back: u64,
    /// Transactions that failed for good.
    pub failed: u64,
    /// Transactions that were tried more than once.
    pub retried: u64,
    /// Tries after the first.
    pub retries: u64,
    /// Arrivals that were skipped for being later than the latency limit.
    pub skipped: u64,
    /// Transactions above the latency limit.
    pub late: u64,
    /// Transactions in progress at the end.
    pub in_flight: u64,
    /// First byte sent to ReadyForQuery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_latency_ns: Option<IntervalLatency>,
    /// Intended start to ReadyForQuery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_latency_ns: Option<IntervalLatency>,
    /// CPU time of the engine's threads, user and kernel.
    pub client_cpu_s: f64,
    /// Transactions a second that were offered, where the rate changes in steps; absent after the measured window, and where a group of
    /// clients has no rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_per_s: Option<f64>,
    /// Connections lost.
    #[serde(default)]
    pub connections_lost: u64,
    /// Connections made anew.
    #[serde(default)]
    pub reconnected: u64,
}

/// Latencies of one interval, in nanoseconds, to three digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalLatency {
    /// Arithmetic mean.
    // Absent only in a response latency that was read from `intervals.csv`, which has no such column.
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub mean: Option<f64>,
    /// The median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// The maximum.
    pub max: u64,
}

impl From<&Interval> for IntervalRecord {
    /// Takes a few hundred bytes of what may be megabytes of histograms.
    fn from(interval: &Interval) -> Self {
        let cpu_ns: u64 = interval.workers.iter().map(WorkerUsage::cpu_ns).sum();
        Self { client_cpu_s: cpu_ns as f64 / 1e9, ..Self::of(interval, &interval.part, interval.in_flight) }
    }
}

impl IntervalRecord {
    /// Returns its length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_s - self.start_s
    }

    /// Returns true if it is in the measured window.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.phase == Phase::Measure.name()
    }

    /// Returns true if it is after the measured window.
    #[must_use]
    pub fn is_drain(&self) -> bool {
        self.phase == Phase::Drain.name()
    }

    /// Returns the interval of one group alone. CPU time is not known by group.
    pub(crate) fn of_group(interval: &Interval, group: &GroupInterval) -> Self {
        Self::of(interval, &group.part, group.in_flight)
    }

    fn of(interval: &Interval, part: &ThreadCounts, in_flight: u64) -> Self {
        let all = part.all();
        let seconds = |ns: u64| ns as f64 / 1e9;
        let length_s = interval.seconds();
        Self {
            interval: interval.index,
            phase: interval.phase.name().to_owned(),
            start_s: seconds(interval.start_ns),
            end_s: seconds(interval.end_ns),
            tps: if length_s > 0.0 { all.committed as f64 / length_s } else { 0.0 },
            started: all.started,
            committed: all.committed,
            rolled_back: all.rolled_back,
            failed: all.failures(),
            retried: all.retried,
            retries: all.retries,
            skipped: all.skipped,
            late: all.late,
            in_flight,
            service_latency_ns: latency(&all.service),
            response_latency_ns: latency(all.response_or_service()),
            client_cpu_s: 0.0,
            offered_per_s: None,
            connections_lost: part.lost,
            reconnected: part.reconnected,
        }
    }
}

impl IntervalLatency {
    /// Returns p50, p95, p99 and the maximum.
    #[must_use]
    pub fn percentiles(&self) -> [u64; 4] {
        [self.p50, self.p95, self.p99, self.max]
    }
}

fn latency(latency: &Latency) -> Option<IntervalLatency> {
    let p = latency.percentiles()?;
    Some(IntervalLatency { mean: Some(p.mean), p50: p.p50, p95: p.p95, p99: p.p99, max: p.max })
}
