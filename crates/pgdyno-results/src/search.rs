//! The record of a search for the highest load: `searches/<id>.json` in the results directory. Each of its measurements
//! is an ordinary run with its own record; this one names them.

use serde::{Deserialize, Serialize};

use crate::record::FORMAT_VERSION;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchStatus {
    /// A load was found that keeps the objectives.
    Found,
    /// Even the lowest load breaks them.
    NoneKept,
    /// Ended by the user, or killed, or it runs still.
    Interrupted,
    /// A run of it brought no figures.
    Failed,
}

impl SearchStatus {
    /// The word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NoneKept => "none kept",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// A search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Its name.
    pub id: String,
    /// How it ended.
    pub status: SearchStatus,
    /// Why, where there is more to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Version of pgdyno.
    pub pgdyno_version: String,
    /// Begin, UTC, RFC 3339.
    pub started_at: String,
    /// End, UTC, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// What was run.
    pub workload: String,
    /// Where, without passwords.
    pub target: String,
    /// What was varied: `rate` or `clients`.
    pub by: String,
    /// What had to hold.
    pub objectives: Vec<String>,
    /// The lowest load that was asked for; absent until it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The highest load that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Ends of the interval should be no farther apart than this share of the lower one.
    pub precision: f64,
    /// Probability of a wrong verdict on a load, under the assumptions of docs/search.md.
    pub error_probability: f64,
    /// Transactions a second in a closed loop, measured first in a search by rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_tps: Option<f64>,
    /// The highest load that keeps the objectives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<f64>,
    /// The lowest load that breaks them: the limit lies between the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<f64>,
    /// The measured load of the greatest throughput for each unit of response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<f64>,
    /// The curve, by load.
    #[serde(default)]
    pub points: Vec<SearchPoint>,
    /// Names of all its runs, in their order.
    #[serde(default)]
    pub runs: Vec<String>,
}

impl SearchRecord {
    /// The record of a search that begins.
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
            knee: None,
            points: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// A load. Its figures are medians of its measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchPoint {
    /// Transactions a second that were offered, or clients.
    pub load: f64,
    /// `kept`, `broken`, `cannot tell` after as many repeats as there may be, or `not decided` where nobody had to know.
    pub verdict: String,
    /// How often it was measured.
    pub repeats: usize,
    /// How many of those it was too much for: the schedule was not kept, or the run was invalid.
    pub overloaded: usize,
    /// What the first of those shows of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload: Option<String>,
    /// Transactions a second that were achieved, rolled-back ones included.
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
    /// Names of its runs.
    pub runs: Vec<String>,
}
