//! Metrics: what a run is known by.

use serde::{Deserialize, Serialize};

/// The unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Per second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Per minute.
    #[serde(rename = "1/min")]
    PerMinute,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Percent, 0 to 100.
    #[serde(rename = "%")]
    Percent,
}

/// Direction in which a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better: throughput.
    Higher,
    /// Less is better: latency.
    Lower,
    /// Neither: how busy a machine was.
    Neither,
}

/// A metric that a workload declares: how many transactions of some kinds are committed in a minute. Runs of the
/// workload are known by it, before TPS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in records and on the command line: `nopm`.
    pub name: &'static str,
    /// Its name in reports: `NOPM`.
    pub title: &'static str,
    /// One line of explanation, for pages.
    pub meaning: &'static str,
    /// The names of the transactions that it counts.
    pub transactions: &'static [&'static str],
    /// Their name in the plural: `New-Orders`.
    pub counted: &'static str,
    /// A query for the server's own count of the same transactions, to compare with the client's.
    pub server_count: Option<&'static str>,
}
