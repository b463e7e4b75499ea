//! The driver: its machine, and its own measurements.

use serde::{Deserialize, Serialize};

use super::LatencyRecord;

/// One of several drivers that were one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriverRecord {
    /// Name of its machine.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// Its clients, in the first stage.
    pub clients: u32,
    /// How it ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// When its clients began, since the common start, by the clock of the meeting server. May be below 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<f64>,
    /// How far that clock may be from what the driver takes it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ms: Option<f64>,
    /// Its machine, and its usage of it, in the first stage.
    pub client: ClientRecord,
    /// Its part of the stages after the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_stages: Vec<DriverStageRecord>,
}

/// A driver's part of a stage after the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriverStageRecord {
    /// Name of the stage.
    pub stage: String,
    /// Its clients.
    pub clients: u32,
    /// Share of the measured window that each of its engine threads was on a CPU, 0 to 1.
    pub thread_busy: Vec<f64>,
    /// Share of the measured window that they waited for a CPU, mean, 0 to 1.
    pub run_delay: f64,
    /// When its clients began, since the common start of the stage, by the clock of the meeting server. May be below 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<f64>,
    /// How far that clock may be from what the driver takes it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_ms: Option<f64>,
}

/// The driver: the machine of pgdyno, and pgdyno's usage of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientRecord {
    /// Operating system and kernel.
    pub os: String,
    /// Model of the CPU.
    pub cpu: String,
    /// CPUs that the process may use.
    pub cpus: usize,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Engine threads.
    #[serde(default)]
    pub threads: usize,
    /// CPUs to which engine threads were pinned, thread by thread; empty if the system placed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<usize>,
    /// Share of the measured window that each engine thread was on a CPU, 0 to 1.
    #[serde(default)]
    pub thread_busy: Vec<f64>,
    /// CPUs that the engine threads used for groups whose figures are not the run's, such as streams of queries beside
    /// transactions, in the measured window: part of the sum of `thread_busy`. Absent without such groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_busy: Option<f64>,
    /// Share of the measured window that the engine threads waited for a CPU, mean, 0 to 1.
    #[serde(default)]
    pub run_delay: f64,
    /// Share of the measured window in which the engine threads did not run at all, mean, 0 to 1: the process was stopped, or had
    /// no CPU, for whole intervals. Absent if there was no such interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<f64>,
    /// CPU time of the whole process in the measured window, user mode.
    #[serde(default)]
    pub cpu_user_s: f64,
    /// CPU time of the whole process in the measured window, kernel.
    #[serde(default)]
    pub cpu_sys_s: f64,
    /// Peak resident memory.
    #[serde(default)]
    pub rss_bytes_max: u64,
    /// Time between the wake-up of an engine thread that found several replies and the reading of each; 0 for a
    /// single reply. This part of a latency is not the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_delay_ns: Option<LatencyRecord>,
    /// Share of these times in all service time, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_share: Option<f64>,
    /// Delay between a timer's time and its service, if there were any timers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_lateness_ns: Option<LatencyRecord>,
    /// Clock source of the system, such as `tsc` or `hpet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_source: Option<String>,
    /// Time of one reading of the clock, measured before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_read_ns: Option<f64>,
    /// Smallest step of the clock, measured before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_step_ns: Option<f64>,
    /// Delay of the system's wake-up of a sleeping thread, median, measured before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_ns: Option<f64>,
}
