//! The driver: its machine, and what it says of itself.

use serde::{Deserialize, Serialize};

use super::LatencyRecord;

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
