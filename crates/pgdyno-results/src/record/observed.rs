//! Samples of server and machines, events during the run, and findings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::RunRecord;

/// How server and machines were sampled, and which sources are missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SamplesRecord {
    /// The sources: names of the files in `samples/`, without their extension.
    pub sources: Vec<String>,
    /// Sources that are missing, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutRecord>,
    /// Notes on the statistics, the server or the clock for readers of the samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The file in the run directory with the plans of the most expensive statements, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<String>,
    /// Number of queries.
    pub queries: u64,
    /// Total time of the answers.
    pub query_s: f64,
    /// CPU time that the sampling session took of the server, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// Length of the sampling.
    pub watched_s: f64,
}

/// A source of samples that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutRecord {
    /// Its name.
    pub source: String,
    /// The reason, and a remedy.
    pub why: String,
}

/// A profile of the server's processes in the measured window: `perf.folded` and `perf.svg` in the run directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileRecord {
    /// Number of samples.
    pub samples: u64,
    /// Samples a second on each CPU that a process of the server was on.
    pub frequency_hz: u32,
    /// Number of different call stacks.
    pub stacks: u64,
    /// By how much transactions took longer while samples were taken, in percent, found by pauses of perf within the window; absent if
    /// the window was too short for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower_percent: Option<f64>,
    /// Both ends of the 95 % interval of that, from two pauses on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower_interval_percent: Option<[f64; 2]>,
    /// Number of these pauses, of one interval each.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pauses: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl ProfileRecord {
    /// Returns the title of its flame graph.
    #[must_use]
    pub fn title(&self, record: &RunRecord) -> String {
        let workload = &record.plan.workload;
        format!("{workload}: {} samples at {} Hz, {}", self.samples, self.frequency_hz, record.id)
    }
}

/// A machine in the measured window. CPU usage is in CPUs: 1.5 means one and a half CPUs all the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineRecord {
    /// Source of the figures: `local`, `ssh user@host`, `command`, `cloud`.
    pub seen_by: String,
    /// CPUs of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// CPUs that pgdyno's container may use, if that is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable_cpus: Option<f64>,
    /// CPU usage in percent of all CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Memory of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Busy CPUs, all programs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_cpus: Option<f64>,
    /// CPUs that were idle because of pending I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iowait_cpus: Option<f64>,
    /// CPUs that the hypervisor gave to others.
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
    /// CPUs that other programs used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpus: Option<f64>,
    /// Bytes a second read from disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_read_bytes_per_s: Option<f64>,
    /// Bytes a second written to disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_write_bytes_per_s: Option<f64>,
    /// Share of the time that the busiest disk was busy, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_busy: Option<f64>,
    /// Bytes a second received from other machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net_receive_bytes_per_s: Option<f64>,
    /// Bytes a second sent to other machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net_send_bytes_per_s: Option<f64>,
}

impl MachineRecord {
    /// Source of figures that the monitoring of a cloud has.
    pub const CLOUD: &'static str = "cloud";
}

/// An event while the clients were running.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventRecord {
    /// Its kind: `checkpoint`, `autovacuum`, `vacuum`, `reset`, `restart`, `clock`, `stall`, `fault`.
    pub kind: String,
    /// Its kind and details.
    pub text: String,
    /// Start, in seconds since the clients began.
    pub from_s: f64,
    /// End; absent if it has no length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

/// Something that held the server back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingRecord {
    /// The rule that found it; docs/measurement.md has all.
    pub rule: String,
    /// The cause, in a sentence with its figure.
    pub text: String,
    /// How much it weighs, 0 to 1: about the share of the clients' time that went there.
    pub weight: f64,
    /// The figures behind it.
    pub evidence: Vec<String>,
    /// What to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Whether it has no share of the clients' time, so that it is not ranked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub also_seen: bool,
    /// From the cause to the part of the clients' time that it explains; empty where the finding names that part itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<LinkRecord>,
}

/// A link of the chain from a cause to the clients' time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkRecord {
    /// A sentence with its figure.
    pub text: String,
    /// How sure it is that this link makes the next one.
    pub certainty: Certainty,
    /// The figures behind it.
    pub evidence: Vec<String>,
}

impl LinkRecord {
    /// Returns a link.
    #[must_use]
    pub fn new(text: &str, certainty: Certainty, evidence: &[String]) -> Self {
        Self { text: text.to_owned(), certainty, evidence: evidence.to_vec() }
    }
}

/// How sure a link of a chain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// The server or pgdyno counts it.
    Measured,
    /// It fits all figures: it is estimated from what the server counts.
    Consistent,
    /// Nothing contradicts it.
    Possible,
}

/// The name of what no other part explains, in records.
const REMAINDER: &str = "on the way and unexplained";

/// Returns what reports call a part of the clients' time, by its name in records.
#[must_use]
pub fn time_part_title(name: &str) -> &str {
    if name == REMAINDER { "network and unattributed" } else { name }
}

/// A part of the clients' time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimePartRecord {
    /// What it was spent on.
    pub name: String,
    /// Its share, 0 to 1; all parts of a run add up to 1.
    pub share: f64,
}
