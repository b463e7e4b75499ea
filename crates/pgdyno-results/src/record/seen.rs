//! What was seen of server and machines meanwhile, what happened, and what held the server back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// Whether it has no share of the clients' time and stands beside the ranked ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub also_seen: bool,
}

/// A part of the clients' time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimePartRecord {
    /// What it was spent on.
    pub name: String,
    /// Its share, 0 to 1; all parts of a run add up to 1.
    pub share: f64,
}
