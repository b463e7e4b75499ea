//! Who is at a meeting.

use serde::Serialize;

/// The agents at a meeting, as `pgdyno agents --format json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentsForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The agents by their number.
    pub agents: Vec<AgentForm>,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentForm {
    /// Its number.
    pub agent: u64,
    /// Name of its machine.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// Version of its program.
    pub version: String,
    /// CPUs that it may use.
    pub cpus: usize,
    /// Number of the run that it serves; null if none.
    pub run: Option<u64>,
    /// What it does, in a word.
    pub state: String,
    /// How far its clock may be off that of the meeting's server; null if not measured yet.
    pub clock_error_us: Option<u64>,
    /// Seconds since its last sign of life.
    pub silent_s: f64,
}
