//! The record of an A/B experiment: `ab/<id>.json` in the results directory. Each of its slices is an ordinary run with its own
//! record; this one names them.

use pgdyno_plan::Order;
use serde::{Deserialize, Serialize};

use crate::record::FORMAT_VERSION;

/// What an experiment shows of B against A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbVerdict {
    /// B is faster.
    Faster,
    /// B is slower.
    Slower,
    /// No difference larger than the margin.
    NoDifference,
    /// Not enough to tell, or none measured yet.
    #[default]
    CannotTell,
}

impl AbVerdict {
    /// The words in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// What one side of an experiment runs, and where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AbSide {
    /// In what it differs, as it was given.
    pub differs: Vec<String>,
    /// What is run, without the length of a slice.
    pub order: Order,
}

/// The runs of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AbRuns {
    /// Names of the runs of A.
    pub a: Vec<String>,
    /// Names of the runs of B.
    pub b: Vec<String>,
}

/// What was measured between two restarts of the servers, or a block where they are not restarted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AbUnit {
    /// Natural logarithm of the ratio of B's figure to A's.
    pub log_ratio: f64,
    /// The runs that it was measured by.
    pub runs: AbRuns,
}

/// An experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AbRecord {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Its name.
    pub id: String,
    /// Version of pgdyno.
    pub pgdyno_version: String,
    /// Begin, UTC, RFC 3339.
    pub started_at: String,
    /// Why it ended: `decided`, `budget`, `interrupted` or what failed; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What was run.
    pub workload: String,
    /// Side A.
    pub a: AbSide,
    /// Side B.
    pub b: AbSide,
    /// Length of a slice in seconds.
    pub slice_s: f64,
    /// The time that it may take, in seconds.
    pub budget_s: f64,
    /// The time that it has taken, in seconds.
    pub spent_s: f64,
    /// A change of this share is a difference: 0.02.
    pub margin: f64,
    /// The chance that the interval holds the truth at every look together: 0.95.
    pub confidence: f64,
    /// How often it was looked at.
    pub looks: u32,
    /// Whether both servers were restarted before each unit.
    pub restarts: bool,
    /// The name of the metric that decides.
    pub metric: String,
    /// What it shows.
    pub verdict: AbVerdict,
    /// The change from A to B in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_percent: Option<f64>,
    /// Both ends of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_percent: Option<[f64; 2]>,
    /// Units that decide in four of five experiments like this one; absent where it is more than a thousand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units_for_power: Option<u32>,
    /// Standard deviation from unit to unit in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_percent: Option<f64>,
    /// What was measured, in its order.
    pub units: Vec<AbUnit>,
    /// All runs that count.
    pub runs: AbRuns,
}

impl AbRecord {
    /// Returns the record of an experiment that begins.
    #[must_use]
    pub fn begin(id: String, started: jiff::Timestamp, workload: String, a: AbSide, b: AbSide) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            id,
            pgdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: started.to_string(),
            workload,
            a,
            b,
            ..Self::default()
        }
    }
}
