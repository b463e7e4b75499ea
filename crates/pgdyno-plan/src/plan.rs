//! The plan as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Whether the data is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadChoice {
    /// Unless the same data is there already.
    #[default]
    IfMissing,
    /// In any case; what pgdyno loaded earlier is dropped.
    Always,
    /// Never: the data is there, or the run does not begin.
    Never,
}

/// How arrivals of an open loop are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At exponentially distributed distances.
    Poisson,
    /// At equal distances.
    Uniform,
}

/// When transactions start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// When the client's last one ended.
    ClosedLoop,
    /// On a schedule.
    Rate {
        /// Transactions a second over all clients.
        per_s: f64,
        /// How they are spread.
        arrivals: Arrivals,
    },
}

/// A script of one's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptPlan {
    /// The file as it was named.
    pub file: String,
    /// Its share of the mix, relative to the sum of all.
    pub weight: u32,
    /// A hash of its text, in hexadecimal digits.
    pub sha256: String,
}

/// Everything that decides what a run does. Two runs of the same plan differ only by the server, the
/// machine and chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The workload's id.
    pub workload: String,
    /// All of its parameters, defaults included.
    pub params: BTreeMap<String, String>,
    /// The scripts of a workload that is made of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<ScriptPlan>,
    /// What the size is called; empty for a workload without data.
    pub scale_name: String,
    /// The size.
    pub scale: u64,
    /// Bytes of tables and indexes once loaded, as the workload estimates them.
    pub data_bytes_estimated: u64,
    /// Where it runs, without passwords: `embedded`, `embedded:18`, `null`, or a connection string.
    pub target: String,
    /// The database that the run works on a fresh copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_template: Option<String>,
    /// Whether the data is loaded.
    pub load: LoadChoice,
    /// Connections that load.
    pub loaders: usize,
    /// Whether an interrupted load of any size can be gone on with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumable: bool,
    /// Whether tables are filled unlogged and made logged afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlogged: bool,
    /// Whether the data is checked before and after the run.
    pub checks: bool,
    /// Clients, or virtual users.
    pub clients: u32,
    /// Connections that they share, each for the time of a transaction; absent where each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// Engine threads.
    pub threads: usize,
    /// `simple`, `extended` or `prepared`.
    pub mode: String,
    /// When transactions start.
    pub pace: Pace,
    /// Warm-up in seconds.
    pub ramp_s: f64,
    /// The measured window in seconds; absent with a number of transactions.
    pub time_s: Option<f64>,
    /// Transactions of each client instead.
    pub transactions: Option<u64>,
    /// Tries of a transaction that meets 40001 or 40P01; 0 is no limit.
    pub max_tries: u32,
    /// Above it a transaction counts as late; with a rate, later ones are skipped.
    pub latency_limit_ms: Option<f64>,
    /// How long a lost connection is tried again.
    pub reconnect_s: f64,
    /// Percentiles that reports show beside the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<f64>,
    /// Whether every transaction is logged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
    /// The seed of all random streams.
    pub seed: u64,
}

impl Plan {
    /// Connections that its clients open.
    #[must_use]
    pub fn links(&self) -> u32 {
        self.connections.unwrap_or(self.clients)
    }
}

#[cfg(test)]
pub(crate) fn example() -> Plan {
    Plan {
        workload: "tproc-c".into(),
        params: [("warehouses".into(), "10".into())].into(),
        scripts: Vec::new(),
        scale_name: "warehouses".into(),
        scale: 10,
        data_bytes_estimated: 1_000_000_000,
        target: "embedded".into(),
        from_template: None,
        load: LoadChoice::IfMissing,
        loaders: 2,
        resumable: false,
        unlogged: false,
        checks: true,
        clients: 16,
        connections: None,
        threads: 1,
        mode: "prepared".into(),
        pace: Pace::ClosedLoop,
        ramp_s: 5.0,
        time_s: Some(30.0),
        transactions: None,
        max_tries: 3,
        latency_limit_ms: None,
        reconnect_s: 0.0,
        percentiles: Vec::new(),
        log: false,
        seed: 1,
    }
}
