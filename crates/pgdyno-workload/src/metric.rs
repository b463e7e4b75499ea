//! Metrics: what a run is known by.

use serde::{Deserialize, Serialize};

/// The unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unit {
    /// Per second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Per minute.
    #[serde(rename = "1/min")]
    PerMinute,
    /// Per hour.
    #[serde(rename = "1/h")]
    PerHour,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Percent, 0 to 100.
    #[serde(rename = "%")]
    Percent,
}

/// Direction in which a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better: throughput.
    Higher,
    /// Less is better: latency.
    Lower,
    /// Neither: how busy a machine was.
    Neither,
}

/// What a metric of a workload measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measured {
    /// Committed transactions a minute, in the first stage.
    #[default]
    PerMinute,
    /// Seconds: the geometric mean of the times of all kinds of transactions in this stage. The metric is left out if
    /// one of them did not commit, or failed.
    GeometricMean(&'static str),
    /// Seconds from the start of this stage to its end. Left out if a transaction failed.
    StageTime(&'static str),
    /// Committed transactions an hour in this stage. Left out if a transaction failed.
    PerHour(&'static str),
    /// Committed transactions a minute in this stage, which goes on for a time.
    PerMinuteIn(&'static str),
    /// Committed transactions an hour in this stage, which goes on for a time.
    PerHourIn(&'static str),
    /// Seconds: the geometric mean of the median times of all kinds of transactions in this stage. The metric is left out
    /// if one of them did not commit.
    GeometricMeanOfMedians(&'static str),
}

impl Measured {
    /// Returns the stage that it is about; `None` if it is about the first one, whatever its name.
    #[must_use]
    pub fn stage(self) -> Option<&'static str> {
        match self {
            Self::PerMinute => None,
            Self::GeometricMean(stage)
            | Self::StageTime(stage)
            | Self::PerHour(stage)
            | Self::PerMinuteIn(stage)
            | Self::PerHourIn(stage)
            | Self::GeometricMeanOfMedians(stage) => Some(stage),
        }
    }

    /// Returns true if it is about work that the stage must have done whole.
    #[must_use]
    pub fn needs_whole_stage(self) -> bool {
        matches!(self, Self::GeometricMean(_) | Self::StageTime(_) | Self::PerHour(_))
    }

    /// Returns the unit, and which way is better.
    #[must_use]
    pub fn unit(self) -> (Unit, Better) {
        match self {
            Self::PerMinute | Self::PerMinuteIn(_) => (Unit::PerMinute, Better::Higher),
            Self::GeometricMean(_) | Self::StageTime(_) | Self::GeometricMeanOfMedians(_) => {
                (Unit::Seconds, Better::Lower)
            }
            Self::PerHour(_) | Self::PerHourIn(_) => (Unit::PerHour, Better::Higher),
        }
    }
}

/// A metric that a workload declares, mostly how many transactions of some kinds are committed in a minute. Runs of the
/// workload are known by it, before TPS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in records and on the command line: `nopm`.
    pub name: &'static str,
    /// Its name in reports: `NOPM`.
    pub title: &'static str,
    /// One line of explanation, for pages.
    pub meaning: &'static str,
    /// What it measures.
    pub measured: Measured,
    /// The names of the transactions that it counts.
    pub transactions: &'static [&'static str],
    /// Their name in the plural: `New-Orders`.
    pub counted: &'static str,
    /// A query for the server's own count of the same transactions, to compare with the client's.
    pub server_count: Option<&'static str>,
}
