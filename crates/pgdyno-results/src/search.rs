//! The record of a search for the highest load: `searches/<id>.json` in the results directory. Each of its
//! measurements is an ordinary run with its own record; this one has their names.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::record::FORMAT_VERSION;
use crate::store::read_versioned;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SearchStatus {
    /// A load was found that meets the objectives.
    Found,
    /// No tested load meets them, or none with the throughput that is asked for.
    NoneKept,
    /// The runs do not show whether any load meets them.
    Undecided,
    /// Ended by the user, or killed, or still running.
    Interrupted,
    /// One of its runs has no figures.
    Failed,
}

impl SearchStatus {
    /// Returns the word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NoneKept => "not met",
            Self::Undecided => "undecided",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// A search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchRecord {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Its name.
    pub id: String,
    /// How it ended.
    pub status: SearchStatus,
    /// Details, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Version of pgdyno.
    pub pgdyno_version: String,
    /// Begin, UTC, RFC 3339.
    pub started_at: String,
    /// End, UTC, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The workload.
    pub workload: String,
    /// The target, without passwords.
    pub target: String,
    /// The varied option: `rate` or `clients`.
    pub by: String,
    /// The objectives.
    pub objectives: Vec<String>,
    /// The lowest load; absent until it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The highest load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Wanted width of the interval around the limit, as a share of its lower end.
    pub precision: f64,
    /// Probability of a wrong verdict on a load, under the assumptions of docs/search.md.
    pub error_probability: f64,
    /// Transactions a second in a closed loop, measured first in a search by rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_tps: Option<f64>,
    /// The highest load that meets the objectives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<f64>,
    /// The lowest load that does not meet them: the limit lies between the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<f64>,
    /// Change of the figure that decides, at the same load, from the first run to the last, in percent: above 0 it got worse.
    /// Present if it is more than chance; the limit is then that of the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_percent: Option<f64>,
    /// The measured load with the highest throughput per unit of response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<f64>,
    /// The curve, by load.
    #[serde(default)]
    pub points: Vec<SearchPoint>,
    /// Names of all its runs, in order.
    #[serde(default)]
    pub runs: Vec<String>,
}

impl SearchRecord {
    /// The directory of searches within the results directory.
    pub const DIRECTORY: &'static str = "searches";

    /// Reads a record.
    ///
    /// # Errors
    /// When it cannot be read, is no record, or has a newer format.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        read_versioned(path)
    }

    /// Returns the record at the start of a search.
    #[must_use]
    pub fn begin(id: String, started: jiff::Timestamp, workload: String, target: String, by: &str) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            id,
            status: SearchStatus::Interrupted,
            reason: Some("pgdyno searches still, or was killed".to_owned()),
            pgdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: started.to_string(),
            ended_at: None,
            workload,
            target,
            by: by.to_owned(),
            objectives: Vec::new(),
            min: None,
            max: None,
            precision: 0.0,
            error_probability: 0.0,
            capacity_tps: None,
            kept: None,
            broken: None,
            drift_percent: None,
            knee: None,
            points: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// A load. Its figures are medians of its measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchPoint {
    /// Transactions a second offered, or clients.
    pub load: f64,
    /// `kept`, `broken`, `cannot tell` after the maximum number of repeats, or `not decided` if the search did not
    /// need it.
    pub verdict: String,
    /// Number of measurements.
    pub repeats: usize,
    /// Number of measurements that were overloaded: the schedule was not kept, or the run was invalid.
    pub overloaded: usize,
    /// The symptom in the first of those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload: Option<String>,
    /// Transactions a second completed, rolled-back ones included.
    pub achieved_per_s: f64,
    /// Share of the transactions that failed, 0 to 1.
    pub failed_share: f64,
    /// Mean response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_latency_ns_mean: Option<f64>,
    /// Median response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_latency_ns_p50: Option<f64>,
    /// 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_latency_ns_p99: Option<f64>,
    /// Figures of one kind of transactions, in the order of the objectives that name one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_kinds: Vec<KindFigure>,
    /// Names of its runs.
    pub runs: Vec<String>,
    /// The figures that the objectives limit, in each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_runs: Vec<RunFigures>,
}

/// A figure that an objective limits, in the runs of a load in which it was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunFigures {
    /// The figure: `p99`, `new-order p99`, `errors`.
    pub name: String,
    /// If it is a response time, in the order of the runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_ns: Vec<f64>,
    /// If it is a share of failed transactions, 0 to 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_share: Vec<f64>,
}

/// A figure of one kind of transactions, which an objective limits: the median of the load's measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindFigure {
    /// The figure: `new-order p99`, `payment errors`.
    pub name: String,
    /// If it is a response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<f64>,
    /// If it is a share of failed transactions, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_share: Option<f64>,
}
