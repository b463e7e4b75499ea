//! Figures of the measured window, by transaction and by statement.

use std::collections::BTreeMap;

use pgdyno_measure::{Percentiles, Steadiness, WindowVerdict};
use pgdyno_workload::{Better, Unit};
use serde::{Deserialize, Serialize};

/// Figures of a latency distribution, in nanoseconds, to three digits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyRecord {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// The minimum.
    pub min: u64,
    /// The median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// The maximum.
    pub max: u64,
    /// Percentiles of `--latency-percentiles`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<PercentileRecord>,
}

impl From<Percentiles> for LatencyRecord {
    fn from(p: Percentiles) -> Self {
        Self {
            mean: p.mean,
            stddev: p.stddev,
            min: p.min,
            p50: p.p50,
            p90: p.p90,
            p95: p.p95,
            p99: p.p99,
            p99_9: p.p99_9,
            max: p.max,
            percentiles: Vec::new(),
        }
    }
}

/// A percentile of `--latency-percentiles`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentileRecord {
    /// The percentage: above 0, up to 100.
    pub percent: f64,
    /// Its latency.
    pub latency_ns: u64,
}

impl LatencyRecord {
    /// Returns true if `n` transactions have this percentile: one above the median that would be the maximum is not known.
    #[must_use]
    pub fn has_percentile(n: u64, percent: f64) -> bool {
        percent <= 50.0 || n as f64 * (100.0 - percent) > 99.999
    }

    /// Returns the percentile of this percentage, if it was recorded.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let usual = [(50.0, self.p50), (90.0, self.p90), (95.0, self.p95), (99.0, self.p99), (99.9, self.p99_9)];
        let asked = self.percentiles.iter().map(|p| (p.percent, p.latency_ns));
        usual.into_iter().chain(asked).find(|(known, _)| *known == percent).map(|(_, ns)| ns)
    }
}

/// A metric of the measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricRecord {
    /// Its value.
    pub value: f64,
    /// The unit of the value: `1/s`, `1/min`, `1/h`, `s`, `ns` or `%`.
    pub unit: Unit,
    /// Which way is better: `higher`, `lower` or `neither`.
    pub better: Better,
    /// Present where the workload declares the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadMetricRecord>,
}

/// A metric as its workload declares it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadMetricRecord {
    /// Its name in reports: `NOPM`.
    pub title: String,
    /// One line of explanation.
    pub meaning: String,
    /// Whether runs of the workload are known by it.
    pub headline: bool,
    /// The names of the transactions that it counts.
    pub transactions: Vec<String>,
    /// Their name in the plural: `New-Orders`.
    pub counted: String,
    /// Count of the server's own tables over the whole run, to compare with the client's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_server: Option<u64>,
    /// The client's count over the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_client: Option<u64>,
}

/// Transactions that client and server count, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerCountRecord {
    /// Their name in the plural: `inserts`.
    pub counted: String,
    /// The client's count of committed transactions.
    pub by_client: u64,
    /// The count of the server's tables.
    pub by_server: u64,
}

/// Left out if it is 0: records of 0.1.0 read and write as before.
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Figures of the measured window. The formulas are in docs/measurement.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Committed transactions a second.
    pub tps: f64,
    /// Committed New-Orders a minute, for workloads that have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nopm: Option<f64>,
    /// Committed and rolled-back transactions a minute, as the server counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpm: Option<f64>,
    /// The same by the client's count.
    pub tpm_client: f64,
    /// SELECT, INSERT, UPDATE and DELETE statements a second.
    pub qps: f64,
    /// Committed transactions.
    pub committed: u64,
    /// Transactions that the workload itself rolled back.
    pub rolled_back: u64,
    /// Transactions that failed for good.
    pub failed: u64,
    /// Failed transactions by class.
    #[serde(default)]
    pub failed_by_class: BTreeMap<String, u64>,
    /// Transactions that were tried more than once.
    pub retried: u64,
    /// Tries after the first.
    pub retries: u64,
    /// Arrivals that were skipped for being later than the latency limit.
    pub skipped: u64,
    /// Transactions above the latency limit.
    pub late: u64,
    /// Transactions that were due and had not begun when the run ended. They are excluded from latencies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub still_waiting: u64,
    /// Waiting time of the one of these that was due first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_waiting_s_max: Option<f64>,
    /// Notices of the server that were dropped because they came too fast.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notices_dropped: u64,
    /// Connections lost.
    pub connections_lost: u64,
    /// Connections replaced.
    pub reconnected: u64,
    /// Longest time of a client without its connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage_s_max: Option<f64>,
    /// Transactions cancelled at the end.
    pub cancelled_in_flight: u64,
    /// Transactions that had begun and not ended at the end of the measured window; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_at_end: Option<InFlightRecord>,
    /// Part of the measured window in which no transaction ended without an error, although some were in flight, failed, or had no
    /// connection; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_s: Option<f64>,
    /// How evenly transactions were spread over clients in the measured window; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_client: Option<ByClientRecord>,
    /// Length of the measured window.
    pub duration_s: f64,
    /// From the start of the window to the first text that a client sent; absent with a warm-up, or if no client began at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_text_s: Option<f64>,
    /// Time that connecting all clients took.
    pub connect_s: f64,
    /// Intended start to ReadyForQuery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_latency_ns: Option<LatencyRecord>,
    /// First byte sent to ReadyForQuery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_latency_ns: Option<LatencyRecord>,
    /// Intended start to first byte sent, where there is a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_lag_ns: Option<LatencyRecord>,
    /// Connections opened for one transaction each, if the run does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_opened: Option<u64>,
    /// Mean time to open one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_s_mean: Option<f64>,
    /// CPU time of pgdyno for each completed transaction, user and kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_us_per_tx: Option<f64>,
    /// Share of block reads that shared buffers answered, in the measured window, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hit_ratio: Option<f64>,
    /// Share of the reads beyond shared buffers that the operating system's cache answered, in the measured window, 0
    /// to 1; absent if the server is not local, or nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_cache_hit_ratio: Option<f64>,
    /// WAL written in the measured window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wal_bytes: Option<u64>,
    /// New-Orders in the server's own tables over the whole run, to compare with the client's count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_orders_by_server: Option<u64>,
    /// The client's count over the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_orders_by_client: Option<u64>,
    /// Whether throughput was steady; absent for short runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<SteadyRecord>,
    /// Changes of the level of throughput within the measured window; empty if there were none, or the run is short.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_changes: Vec<LevelChangeRecord>,
    /// The warm-up that this run would have needed, if it was too short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_s_proposed: Option<f64>,
    /// Mean CPU usage of the server's machine in the measured window, in percent of all its CPUs, as the guides show
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_percent: Option<f64>,
}

/// Mean and standard deviation over all clients of what each did in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByClientRecord {
    /// Clients.
    pub clients: u64,
    /// Committed transactions.
    pub committed_mean: f64,
    /// Their standard deviation.
    pub committed_stddev: f64,
    /// Total response time of completed transactions.
    pub response_s_mean: f64,
    /// Its standard deviation.
    pub response_s_stddev: f64,
}

/// Transactions that had begun and not ended at the end of the measured window. Their latency is at least their age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InFlightRecord {
    /// Their number.
    pub transactions: u64,
    /// Age of the oldest, from its intended start to the end of the window.
    pub age_s_max: f64,
    /// Those whose age is above the 99th percentile and the mean of the response times of transactions that ended: response and
    /// service times of the window include them, with their age.
    pub counted: u64,
}

/// A change of the level of throughput.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelChangeRecord {
    /// Time, in seconds since the clients began.
    pub at_s: f64,
    /// Mean TPS since the change before.
    pub tps_before: f64,
    /// Mean TPS until the next change.
    pub tps_after: f64,
}

/// Throughput over the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyRecord {
    /// Standard deviation of the intervals over their mean.
    pub variation: f64,
    /// Change from the first to the last third, as a share of the mean.
    pub trend: f64,
    /// The trend that chance alone exceeds in one of twenty runs, as a share of the mean; absent in old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// Whether the trend is more than that.
    pub drifts: bool,
}

impl SteadyRecord {
    /// Returns whether the window is steady. Old records without the chance are steady if they show no large trend.
    #[must_use]
    pub fn verdict(&self) -> WindowVerdict {
        let chance = self.chance.unwrap_or(self.trend.abs());
        Steadiness { variation: self.variation, trend: self.trend, chance, drifts: self.drifts }.verdict()
    }
}

impl StatementRecord {
    /// Returns the time of all its executions, in nanoseconds.
    #[must_use]
    pub fn time_ns(&self) -> f64 {
        let mean = self.latency_ns.as_ref().map(|latency| latency.mean).or(self.latency_ns_mean);
        self.executed as f64 * mean.unwrap_or_default()
    }
}

/// One kind of transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransactionRecord {
    /// Its name.
    pub name: String,
    /// Its planned share of the mix, 0 to 1.
    pub share_planned: f64,
    /// Its share of completed transactions, 0 to 1.
    pub share: f64,
    /// Committed.
    pub committed: u64,
    /// Rolled back by the workload.
    pub rolled_back: u64,
    /// Failed for good.
    pub failed: u64,
    /// Tried more than once.
    pub retried: u64,
    /// Tries after the first.
    pub retries: u64,
    /// Skipped.
    pub skipped: u64,
    /// Above the latency limit.
    pub late: u64,
    /// Intended start to ReadyForQuery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_latency_ns: Option<LatencyRecord>,
    /// First byte sent to ReadyForQuery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_latency_ns: Option<LatencyRecord>,
    /// Intended start to first byte sent, where there is a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_lag_ns: Option<LatencyRecord>,
}

/// A count of the clients beside transactions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TallyRecord {
    /// Its name.
    pub name: String,
    /// Its value.
    pub count: u64,
}

/// Result of one of the workload's rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleRecord {
    /// The clause or a name.
    pub name: String,
    /// The rule.
    pub rule: String,
    /// The value found.
    pub found: String,
    /// Whether the value meets the rule; absent if the value is only reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
}

/// Earlier complete runs of the same plan, driver, version and settings in the results directory: the newest, at most eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierRunsRecord {
    /// Their number, three or more.
    pub runs: u64,
    /// Geometric mean of their transactions a second.
    pub tps_mean: f64,
    /// How much this run differs from that, as a share of it.
    pub change_share: f64,
    /// The 95 % interval of one run by the scatter of all of them and this one (Student's t on the logarithm), as a share of its throughput.
    pub error_share: f64,
}

/// Whether the run met an objective that was asked of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObjectiveRecord {
    /// The objective: `p99 < 10ms`.
    pub objective: String,
    /// Its figure in this run, as text; empty if there is none.
    pub found: String,
    /// Whether the figure meets it; absent if there is none, or if too few transactions ended for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
}

/// One statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatementRecord {
    /// Its text.
    pub sql: String,
    /// The transaction that it belongs to, if it is only one: a script's command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// Executions that succeeded.
    pub executed: u64,
    /// Executions that failed.
    pub failed: u64,
    /// Executions that failed and whose transaction was retried; absent in old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retried: Option<u64>,
    /// Time from sending it to its end; absent with very many statements, of which only the mean is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencyRecord>,
    /// The mean, if only that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_mean: Option<f64>,
    /// Number of rows returned, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Mean time from sending it until its first row was read, of the executions that returned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_row_ns_mean: Option<f64>,
    /// A digest of the rows in any order, if they were hashed: 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_digest: Option<String>,
    /// A digest of these rows in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_digest_ordered: Option<String>,
}

/// Notices and warnings of one kind from the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoticeRecord {
    /// `NOTICE`, `WARNING`, `INFO`, `LOG` or `DEBUG`.
    pub severity: String,
    /// The SQLSTATE.
    pub sqlstate: String,
    /// Number in the whole run. Messages that differ only in numbers are of one kind.
    pub count: u64,
    /// The first message.
    pub message: String,
}

/// Errors with one SQLSTATE.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorRecord {
    /// The SQLSTATE.
    pub sqlstate: String,
    /// Number in the whole run.
    pub count: u64,
    /// The first message.
    pub message: String,
    /// File and line of its statement, where the user wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl ErrorRecord {
    /// Returns the first message with its place, without the SQLSTATE.
    #[must_use]
    pub fn text(&self) -> String {
        let message = self.message.replacen(&format!(" (SQLSTATE {})", self.sqlstate), "", 1);
        self.place.as_ref().map_or_else(|| message.clone(), |place| format!("{place}: {message}"))
    }
}
