//! When a run had no commits, and what that cost.

use serde::{Deserialize, Serialize};

/// When there were no commits. Times are those of the driver's clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutageRecord {
    /// Time between two acknowledgements in the mean: no time here is more exact.
    pub resolution_s: f64,
    /// Time from the last acknowledgement before the longest gap to the first after it, of any client; absent if no gap stands
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage_s: Option<f64>,
    /// When it began, since the first transaction with a marker began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage_from_s: Option<f64>,
    /// Whether commits were acknowledged after it.
    pub is_over: bool,
    /// Time from its start to the first failure that a client noticed; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error_s: Option<f64>,
    /// Time from its start until 90 % of the former rate are reached again and last for 10 s, or to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_s: Option<f64>,
    /// Replies that did not come within the time of `--commit-timeout`: the server hung, and did not refuse.
    pub hung: u64,
    /// The longest gap of each client: of the client in the middle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_outage_s_median: Option<f64>,
    /// The longest gap of any client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_outage_s_max: Option<f64>,
    /// Work that it cost; absent without an outage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_lost: Option<WorkLostRecord>,
    /// Its course; absent without an outage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<OutageCourseRecord>,
}

/// Work that an outage cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkLostRecord {
    /// Transactions that failed, or whose outcome the clients do not know, from its start until its end.
    pub aborted: u64,
    /// Those of them that were in progress when a client noticed the first failure.
    pub in_flight: u64,
    /// Sum over all clients of the time without a commit.
    pub client_s: f64,
    /// Commits that the former rate would have made until that rate was nearly reached again, those that were made left out.
    pub commits: u64,
}

/// The course of an outage, in steps of equal length, with some time before and after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutageCourseRecord {
    /// Start of the first step, since the first transaction with a marker began.
    pub from_s: f64,
    /// Length of a step.
    pub step_s: f64,
    /// Commits that were acknowledged in each step.
    pub acknowledged: Vec<u64>,
    /// Failures in each step, by their class.
    pub failures: Vec<OutageFailuresRecord>,
    /// Median time from the first byte sent to the acknowledgement, in each step.
    pub latency_ms_p50: Vec<Option<f64>>,
    /// The longest such time.
    pub latency_ms_max: Vec<Option<f64>>,
    /// Clients without commits, the first to lose them first; of more than 200 clients 200, evenly chosen.
    pub clients: Vec<ClientOutageRecord>,
}

/// Failures of one class during an outage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutageFailuresRecord {
    /// `failed` or `unknown`, and the SQLSTATE if the server gave one.
    pub class: String,
    /// How many ended in each step.
    pub counts: Vec<u64>,
}

/// The time for which a client had no commits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientOutageRecord {
    /// The number of the client, from 0.
    pub client: u32,
    /// Its last acknowledgement before, since the first transaction with a marker began.
    pub from_s: f64,
    /// Its first one after, or the end of the run.
    pub until_s: f64,
}
