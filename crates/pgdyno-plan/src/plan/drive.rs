//! What drives the server.

use std::collections::BTreeMap;

use pgdyno_text::brief::duration;
use pgdyno_text::units::plain_plural;
use pgdyno_wire::{QueryMode, Wire};
use pgdyno_workload::{Pace, RateSteps};
use serde::{Deserialize, Serialize};

use crate::StagePlan;

/// How streams of queries connect, where they run beside transactions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AnalyticsPlan {
    /// Another server for them, without a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Settings of their sessions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl AnalyticsPlan {
    /// Returns true if they connect as all clients do.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// What drives the server, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrivePlan {
    /// Clients, or virtual users.
    pub clients: u32,
    /// Connections that they share, each for the time of a transaction; absent if each client has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// How streams of queries connect.
    #[serde(default, skip_serializing_if = "AnalyticsPlan::is_usual")]
    pub analytics: AnalyticsPlan,
    /// Servers that run what only reads, without passwords: each client has a connection to one of them, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readers: Vec<String>,
    /// Engine threads, of all agents if there are any.
    pub threads: usize,
    /// Agents on other machines that drive instead of this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<u32>,
    /// The CPUs that engine threads are pinned to: `all` that the process may use, or a list such as `0,2-4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// The query mode.
    pub mode: QueryMode,
    /// The format in which statements are sent.
    #[serde(default, skip_serializing_if = "Wire::is_native")]
    pub wire: Wire,
    /// When transactions start. A rate that changes in steps has its mean over the measured window here.
    pub pace: Pace,
    /// How the rate changes over the measured window; absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_steps: Option<RateSteps>,
    /// The workload's own rate in transactions a second, which `--rate` replaces or multiplies; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_rate_per_s: Option<f64>,
    /// Warm-up in seconds.
    pub ramp_s: f64,
    /// The measured window in seconds; absent with a number of transactions.
    pub time_s: Option<f64>,
    /// Transactions of each client, instead of a time.
    pub transactions: Option<u64>,
    /// How long transactions in flight at the end may take before they are cancelled, in seconds.
    #[serde(default = "usual_grace", skip_serializing_if = "is_usual_grace")]
    pub grace_s: f64,
    /// The stages, if there is more than one stage or group of clients. The plan's own values, such as `clients` and
    /// `pace`, are the defaults of groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StagePlan>,
    /// Tries of a transaction that meets 40001 or 40P01; 0 means no limit.
    pub max_tries: u32,
    /// A transaction with a greater latency counts as late; with a rate, late ones are skipped.
    pub latency_limit_ms: Option<f64>,
    /// How long a lost connection is tried again.
    pub reconnect_s: f64,
    /// The ledger of its commits, if it keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerPlan>,
    /// How long replies may lie unread, so that one wake-up of a thread reads several, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalesce_us: Option<f64>,
}

/// The ledger of a run: which commits the server acknowledged, and which of them it has at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerPlan {
    /// How long a client waits for a reply before it closes its connection, in seconds. The outcome of a commit is unknown then.
    pub commit_timeout_s: f64,
}

impl LedgerPlan {
    /// Default of the time for a reply, in seconds.
    pub const USUAL_TIMEOUT_S: f64 = 10.0;
}

fn usual_grace() -> f64 {
    DrivePlan::USUAL_GRACE_S
}

fn is_usual_grace(grace_s: &f64) -> bool {
    *grace_s == DrivePlan::USUAL_GRACE_S
}

impl DrivePlan {
    /// Default of how long transactions in flight at the end may take, in seconds.
    pub const USUAL_GRACE_S: f64 = 5.0;

    /// Returns true if a run ends when its work is done, such as each query once, however long that takes.
    #[must_use]
    pub fn ends_with_work(&self) -> bool {
        self.stages.first().is_some_and(StagePlan::ends_with_work)
    }

    /// Returns the mean rate that is offered to the clients of the first stage between two times in seconds since they began, if the rate
    /// changes in steps and all of them have a rate.
    #[must_use]
    pub fn offered_per_s(&self, from_s: f64, until_s: f64) -> Option<f64> {
        let steps = self.rate_steps.as_ref().filter(|_| until_s > from_s)?;
        // A stage that ends with its work has no warm-up.
        let ramp_s = if self.ends_with_work() { 0.0 } else { self.ramp_s };
        let mean = steps.mean_per_s(from_s - ramp_s, until_s - ramp_s);
        let of_group = |pace: Pace| match pace {
            pace if pace == self.pace => Some(mean),
            // It has a rate of its own, which does not change.
            pace => pace.rate().map(|rate| rate.per_s),
        };
        match self.stages.first() {
            None => Some(mean),
            Some(stage) => stage.groups.iter().map(|group| of_group(group.pace)).sum(),
        }
    }

    /// Returns how its rate changes, as text that follows the rate; empty if it does not: ` in 10 steps of 1 min`.
    #[must_use]
    pub fn stepped(&self) -> String {
        let Some(steps) = &self.rate_steps else { return String::new() };
        let (all, length) = (steps.steps.len(), duration(steps.step_s));
        let followed = self.time_s.map(|time_s| (time_s / steps.step_s).ceil() as usize);
        match followed.filter(|followed| *followed < all) {
            Some(1) => format!(" in the first of {all} steps of {length}"),
            Some(followed) => format!(" in the first {followed} of {all} steps of {length}"),
            None => format!(" in {} of {length}", plain_plural(all as u64, "step")),
        }
    }

    /// Returns where its threads are pinned, as text that follows their number; empty if they are not.
    #[must_use]
    pub fn pinned(&self) -> String {
        match self.pin.as_deref() {
            None => String::new(),
            Some(crate::cpus::ALL) => ", a CPU each".to_owned(),
            Some(cpus) => format!(" on CPUs {cpus}"),
        }
    }
}
