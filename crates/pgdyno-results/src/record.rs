//! The schema of `run.json`.
//!
//! Names end in their unit. A field that is absent was not measured; a field is never filled with a guess.
//! Fields are only ever added within one format version; anything else raises it.

use std::collections::BTreeMap;

use pgdyno_measure::{Percentiles, Steadiness, Verdict};
use pgdyno_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::interval::IntervalRecord;

/// The version of the schema that this crate writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As planned.
    Complete,
    /// Ended early by the user, or never ended: pgdyno was killed, or runs still. What was measured stands.
    Interrupted,
    /// The numbers cannot be trusted: an identity does not hold, clients were lost, or a check failed.
    Invalid,
    /// It could not begin, or broke off.
    Failed,
}

impl Status {
    /// The word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
        }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// The name of the run directory.
    pub id: String,
    /// How it ended.
    pub status: Status,
    /// Why, where it did not end as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Exit code of the program; see docs/exit-codes.md.
    #[serde(default)]
    pub exit_code: u8,
    /// Version of pgdyno.
    pub pgdyno_version: String,
    /// Begin of the run, UTC, RFC 3339.
    pub started_at: String,
    /// Begin of the measured window, UTC, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_at: Option<String>,
    /// End of the run, UTC, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// What was to be done.
    pub plan: Plan,
    /// Hash of the plan: the same for runs that may be compared without a second look.
    pub plan_hash: String,
    /// The driver.
    pub client: ClientRecord,
    /// The server; absent for a workload without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
    /// The target as `pgdyno.toml` has it; absent where the target has no name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetRecord>,
    /// What was done to the server before and after the measured window, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<CycleRecord>,
    /// Settings of the server that the run changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_set: Vec<SettingRecord>,
    /// What the figures cost, where the target has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostRecord>,
    /// The copy of a database that the run worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyRecord>,
    /// The load, where this run loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRecord>,
    /// Checks before and after the run.
    #[serde(default)]
    pub checks: Vec<CheckSet>,
    /// The figures; absent when nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// By kind of transaction.
    #[serde(default)]
    pub transactions: Vec<TransactionRecord>,
    /// By statement.
    #[serde(default)]
    pub statements: Vec<StatementRecord>,
    /// What the clients counted beside transactions in the measured window, such as remote accesses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tallies: Vec<TallyRecord>,
    /// What the workload's own rules say of the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleRecord>,
    /// Errors of the server by SQLSTATE, retried ones included.
    #[serde(default)]
    pub errors: Vec<ErrorRecord>,
    /// The run interval by interval, in a record that has no `intervals.csv` beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<IntervalRecord>,
    /// How server and machines were watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesRecord>,
    /// The server's machine in the measured window, where somebody could look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_machine: Option<MachineRecord>,
    /// The driver's machine in the measured window, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_machine: Option<MachineRecord>,
    /// What happened while the clients were at work, such as checkpoints, by its begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventRecord>,
    /// What held the server back, the weightiest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingRecord>,
    /// What a reader must know before trusting the figures.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl RunRecord {
    /// The record of a run that begins: nothing is known yet but what was to be done, and by whom.
    #[must_use]
    pub fn begin(id: String, started: jiff::Timestamp, plan: Plan, plan_hash: String, client: ClientRecord) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            id,
            status: Status::Interrupted,
            reason: None,
            exit_code: 0,
            pgdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: started.to_string(),
            measured_at: None,
            ended_at: None,
            plan,
            plan_hash,
            client,
            server: None,
            target: None,
            cycle: Vec::new(),
            settings_set: Vec::new(),
            cost: None,
            copy: None,
            load: None,
            checks: Vec::new(),
            summary: None,
            transactions: Vec::new(),
            statements: Vec::new(),
            tallies: Vec::new(),
            rules: Vec::new(),
            errors: Vec::new(),
            intervals: Vec::new(),
            samples: None,
            server_machine: None,
            client_machine: None,
            events: Vec::new(),
            findings: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A target that has a name, as `pgdyno.toml` describes it. Never its connection string.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// Its name.
    pub name: String,
    /// What it is, in the user's words: `alloydb`, `self-hosted`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// What else the user says of it, such as `cluster = c4+2w8`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Processors of the database server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcpus: Option<u32>,
    /// Memory of the database server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What an hour of it costs, in `currency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_hour: Option<f64>,
    /// The currency of the price.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub currency: String,
}

/// One step of the life cycle around the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CycleRecord {
    /// `provision`, `drop`, `restart`, `drop-caches`, `settings`, `prewarm`, `checkpoint`, `restore-settings`, `teardown`.
    pub step: String,
    /// What was done, by whom; or why it was not done.
    pub what: String,
    /// Whether it was done.
    pub done: bool,
    /// How long it took.
    pub seconds: f64,
    /// The file in the run directory that holds the output of its command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// A setting that the run changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingRecord {
    /// Its name.
    pub name: String,
    /// The value that was asked for.
    pub asked: String,
    /// The value that the clients' sessions show.
    pub shown: String,
    /// Where it was set: `start` of the private server, `session` of each client, `server` by ALTER SYSTEM, or `already`
    /// where the server had it.
    pub by: String,
    /// The value before, where it was set on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether the value before was put back; absent where there was nothing to put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<bool>,
}

/// What the figures cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostRecord {
    /// The currency.
    pub currency: String,
    /// Of an hour of the target.
    pub price_per_hour: f64,
    /// Of a million committed transactions at the measured rate.
    pub per_million_transactions: f64,
    /// NOPM for each unit of currency an hour, for workloads that have New-Orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nopm_per_price: Option<f64>,
}

/// The driver: the machine that pgdyno runs on, and what it used of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// Operating system and kernel.
    pub os: String,
    /// The processor's name.
    pub cpu: String,
    /// CPUs that the process may use.
    pub cpus: usize,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Engine threads.
    #[serde(default)]
    pub threads: usize,
    /// The CPUs that engine threads were pinned to, thread by thread; empty where the system placed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<usize>,
    /// Share of the measured window that each engine thread was on a CPU, 0 to 1.
    #[serde(default)]
    pub thread_busy: Vec<f64>,
    /// Share of the measured window that the engine threads waited for a CPU, mean, 0 to 1.
    #[serde(default)]
    pub run_delay: f64,
    /// CPU time of the whole process in the measured window, user mode.
    #[serde(default)]
    pub cpu_user_s: f64,
    /// CPU time of the whole process in the measured window, kernel.
    #[serde(default)]
    pub cpu_sys_s: f64,
    /// The largest resident memory.
    #[serde(default)]
    pub rss_bytes_max: u64,
    /// From the wake of an engine thread that found several replies to the reading of each, 0 for one that came alone: a
    /// part of every latency that is not the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_delay_ns: Option<LatencyRecord>,
    /// Share of all service time that replies lay so, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_share: Option<f64>,
    /// From the moment that a timer was set for to the moment that it was served, where anything waited for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_lateness_ns: Option<LatencyRecord>,
    /// What the system's clock is read from, such as `tsc` or `hpet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_source: Option<String>,
    /// What one reading of the clock takes, measured before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_read_ns: Option<f64>,
    /// The least step of the clock, measured before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_step_ns: Option<f64>,
    /// How much later than asked for the system wakes a thread that sleeps, median, measured before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_ns: Option<f64>,
}

/// The server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// What it calls itself: `PostgreSQL 18.1 on x86_64-pc-linux-gnu, …`.
    pub version: String,
    /// `server_version_num`.
    pub version_num: u32,
    /// How it was reached or made: `private, from /usr/lib/postgresql/15/bin`, `given`.
    pub origin: String,
    /// Whether it runs on the driver's machine, as far as that can be told.
    pub local: bool,
    /// TLS version and cipher of the clients' connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
    /// Settings that bear on the figures, as the server shows them.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// All settings that are not at their default, as the server shows them; none that could hold a secret.
    #[serde(default)]
    pub settings_changed: BTreeMap<String, String>,
    /// Size of the database before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_bytes: Option<u64>,
    /// Size of the database after the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_bytes_after: Option<u64>,
    /// Size of each of the workload's tables, with its indexes, before and after the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<GrowthRecord>,
    /// Whether a standby must confirm each commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronous_standbys: Option<u64>,
    /// The nodes, where the server spreads tables over nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterRecord>,
}

/// The nodes of a server that spreads tables over nodes (Citus).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterRecord {
    /// Its size in one word: `c4+2w8` is a coordinator of 4 CPUs and two workers of 8; `?` where they are not known.
    pub label: String,
    /// The version of Citus.
    pub version: String,
    /// Every node, the coordinator first.
    pub nodes: Vec<NodeRecord>,
    /// Whether calls are sent to the node of their rows, as a probe before the run showed; absent where there was nothing
    /// to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegated: Option<bool>,
    /// The same in words: what was tried and seen, or why not.
    pub delegation: String,
    /// Warehouses of the fullest node over the mean of those that should hold any; absent where none is distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRecord {
    /// `host:port`, as the nodes know it.
    pub name: String,
    /// Processors of its machine, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Warehouses, or units of another scale, whose rows it holds; absent where none is distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warehouses: Option<u64>,
}

/// How a table grew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowthRecord {
    /// Its name.
    pub name: String,
    /// Table and indexes before the run.
    pub bytes_before: u64,
    /// Table and indexes after the run; absent where nobody could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_after: Option<u64>,
}

/// A fresh copy of a database, made for the run and dropped after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CopyRecord {
    /// The database that was copied.
    pub template: String,
    /// The name of the copy.
    pub database: String,
    /// From the order to copy to the end of the checkpoint after it.
    pub seconds: f64,
    /// Size of the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// Connections.
    pub loaders: usize,
    /// From the first CREATE TABLE to the stamp.
    pub seconds: f64,
    /// Seconds by phase, in their order.
    pub phases: Vec<(String, f64)>,
    /// By table.
    pub tables: Vec<LoadTable>,
}

/// A loaded table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadTable {
    /// Its name.
    pub name: String,
    /// Rows that were loaded.
    pub rows: u64,
    /// Bytes of COPY data.
    pub copy_bytes: u64,
    /// Seconds of COPY, added up over its loaders.
    pub copy_s: f64,
}

/// All checks at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckSet {
    /// `after load`, `before run`, `after run`.
    pub when: String,
    /// The checks.
    pub checks: Vec<CheckRecord>,
}

/// A check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckRecord {
    /// The clause or a name.
    pub name: String,
    /// What must hold.
    pub condition: String,
    /// Whether it holds.
    pub holds: bool,
    /// How long it took.
    pub seconds: f64,
    /// The first rows that break it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
}

/// Figures of a latency distribution, in nanoseconds, to three digits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyRecord {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// The least.
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
    /// The greatest.
    pub max: u64,
    /// Those that were asked for by `--latency-percentiles`.
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

/// A percentile that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PercentileRecord {
    /// Which: above 0, up to 100.
    pub percent: f64,
    /// The latency that so many of a hundred do not exceed.
    pub latency_ns: u64,
}

/// The figures of the measured window. Each formula stands in docs/metrics.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Committed transactions a second.
    pub tps: f64,
    /// Committed New-Orders a minute, for workloads that have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nopm: Option<f64>,
    /// Committed and rolled-back transactions a minute, as the server counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpm: Option<f64>,
    /// The same as the client counts them.
    pub tpm_client: f64,
    /// SELECT, INSERT, UPDATE and DELETE statements a second.
    pub qps: f64,
    /// Transactions whose work is committed.
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
    /// Connections lost.
    pub connections_lost: u64,
    /// Connections made anew.
    pub reconnected: u64,
    /// The longest time that a client was without its connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage_s_max: Option<f64>,
    /// Transactions that were cancelled at the end.
    pub cancelled_in_flight: u64,
    /// Length of the measured window.
    pub duration_s: f64,
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
    /// Connections that were opened for one transaction each, in a run that does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_opened: Option<u64>,
    /// How long opening one of these took, mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_s_mean: Option<f64>,
    /// CPU time of pgdyno for each completed transaction, user and kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_us_per_tx: Option<f64>,
    /// Share of block reads that shared buffers answered, in the measured window, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hit_ratio: Option<f64>,
    /// Share of the reads that shared buffers did not answer which the operating system's cache did, in the measured
    /// window, 0 to 1; absent where the server is not local, or nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_cache_hit_ratio: Option<f64>,
    /// WAL written in the measured window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wal_bytes: Option<u64>,
    /// New-Orders that the server's own tables count over the whole run, to hold against the client's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_orders_by_server: Option<u64>,
    /// The client's count of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_orders_by_client: Option<u64>,
    /// Whether throughput held steady; absent for short runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<SteadyRecord>,
    /// Where throughput changed its level within the measured window; empty where it did not, or the run is short.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_changes: Vec<LevelChangeRecord>,
    /// The warm-up that this run would have needed, where it began too early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_s_proposed: Option<f64>,
    /// CPU that the server's machine used, mean of the measured window, in percent of all its CPUs, as the guides show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_percent: Option<f64>,
}

/// A change of the level of throughput.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LevelChangeRecord {
    /// When, in seconds since the clients began.
    pub at_s: f64,
    /// Mean TPS since the change before.
    pub tps_before: f64,
    /// Mean TPS until the next change.
    pub tps_after: f64,
}

/// How server and machines were watched, and what could not be seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SamplesRecord {
    /// The sources that were seen: the names of the files in `samples/`, without their ending.
    pub sources: Vec<String>,
    /// What was left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutRecord>,
    /// What happened meanwhile to the statistics, the server or the clock that a reader of them must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The file in the run directory that holds the plans of the weightiest statements, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<String>,
    /// Queries that were sent.
    pub queries: u64,
    /// How long the answers took, added up.
    pub query_s: f64,
    /// CPU time that the sampling session took of the server, where that can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// How long the server was watched.
    pub watched_s: f64,
}

/// A source of samples that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutRecord {
    /// Which.
    pub source: String,
    /// Why, and what would help.
    pub why: String,
}

/// A machine in the measured window. CPU is counted in CPUs: 1.5 is one and a half of them all the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// Who looked: `local`, `ssh user@host`, `command`.
    pub seen_by: String,
    /// CPUs of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// CPUs of it that the container may use which pgdyno runs in, where that is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable_cpus: Option<f64>,
    /// Share of the CPUs that were busy, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Memory of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// CPUs that were busy, all programs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_cpus: Option<f64>,
    /// CPUs' worth of time in which nothing ran because of pending I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iowait_cpus: Option<f64>,
    /// CPUs' worth of time that the hypervisor gave to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_cpus: Option<f64>,
    /// CPUs that the server's processes used, by kind of process.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub server_cpus: BTreeMap<String, f64>,
    /// CPUs that pgdyno used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_cpus: Option<f64>,
    /// CPUs that the kernel's own threads and interrupts used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_cpus: Option<f64>,
    /// CPUs that programs used which are neither the server nor pgdyno.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpus: Option<f64>,
    /// Bytes a second read from disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_read_bytes_per_s: Option<f64>,
    /// Bytes a second written to disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_write_bytes_per_s: Option<f64>,
    /// Share of the time that the busiest disk had something to do, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_busy: Option<f64>,
    /// Bytes a second received from other machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net_receive_bytes_per_s: Option<f64>,
    /// Bytes a second sent to other machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net_send_bytes_per_s: Option<f64>,
}

/// Something that happened while the clients were at work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// What: `checkpoint`, `autovacuum`, `vacuum`, `reset`, `restart`, `clock`, `stall`.
    pub kind: String,
    /// The same with its particulars.
    pub text: String,
    /// Begin, in seconds since the clients began.
    pub from_s: f64,
    /// End; absent for a moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

/// Something that held the server back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FindingRecord {
    /// The rule that found it; docs/metrics.md has all.
    pub rule: String,
    /// What, in a sentence with its figure.
    pub text: String,
    /// How much it weighs, 0 to 1: about the share of the clients' time that went there.
    pub weight: f64,
    /// The figures behind it.
    pub evidence: Vec<String>,
    /// What could be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// How throughput went over the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// Standard deviation of the intervals over their mean.
    pub variation: f64,
    /// Change from the first to the last third, as a share of the mean.
    pub trend: f64,
    /// The trend that chance alone exceeds in one of twenty runs, as a share of the mean; absent in records of before it was
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// Whether the trend is more than that.
    pub drifts: bool,
}

impl SteadyRecord {
    /// What can be said of the window. Records of before chance was known are steady where they show no large trend.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let chance = self.chance.unwrap_or(self.trend.abs());
        Steadiness { variation: self.variation, trend: self.trend, chance, drifts: self.drifts }.verdict()
    }
}

/// One kind of transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TransactionRecord {
    /// Its name.
    pub name: String,
    /// Its planned share of the mix, 0 to 1.
    pub share_planned: f64,
    /// Its share of what was completed, 0 to 1.
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

/// Something that the clients counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallyRecord {
    /// What.
    pub name: String,
    /// How much of it.
    pub count: u64,
}

/// What one of the workload's rules says of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRecord {
    /// The clause or a name.
    pub name: String,
    /// What it wants, or looks at.
    pub rule: String,
    /// What was found.
    pub found: String,
    /// Whether it is as the rule wants it; absent where it is told without a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
}

/// One statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementRecord {
    /// Its text.
    pub sql: String,
    /// The transaction that it is a part of, where it is of one alone: a script's command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// Times that it ended well.
    pub executed: u64,
    /// Times that it failed.
    pub failed: u64,
    /// Times that it failed and its transaction was tried again; absent in records of before it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retried: Option<u64>,
    /// From its sending to its end; absent with very many statements, of which only the mean is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencyRecord>,
    /// The mean, where there is no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_mean: Option<f64>,
}

/// Errors with one SQLSTATE.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// The SQLSTATE.
    pub sqlstate: String,
    /// How often, in the whole run.
    pub count: u64,
    /// The first message.
    pub message: String,
}
