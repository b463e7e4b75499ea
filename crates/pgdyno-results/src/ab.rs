//! The record of an A/B experiment: `ab/<id>.json` in the results directory. Each of its slices is an ordinary run with its own
//! record; this one names them.

mod profile;
mod responses;
mod statements;
mod time;

use pgdyno_plan::Order;
use serde::{Deserialize, Serialize};

use crate::record::FORMAT_VERSION;
use crate::resumable::Resumable;
pub use profile::{AbProfile, AbStack};
pub use responses::{AbResponseBin, AbResponses};
pub use statements::{AbPlanChange, AbStatement, AbStatementTime};
pub use time::{AbTime, clients_time_of};

/// What an experiment shows of B against A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AbVerdict {
    /// B is faster.
    Faster,
    /// B is slower.
    Slower,
    /// No difference larger than the margin.
    NoDifference,
    /// Not enough to decide, or none measured yet.
    #[default]
    #[serde(rename = "cannot-tell")]
    Undecided,
}

impl AbVerdict {
    /// The words in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference",
            Self::Undecided => "cannot tell",
        }
    }
}

/// What one side of an experiment runs, and where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbSide {
    /// In what it differs, as it was given.
    pub differs: Vec<String>,
    /// Its target, without passwords; absent in records of 0.2.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What is run, without the length of a slice, and without passwords.
    pub order: Order,
    /// Hash of the plan of its slices; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_hash: Option<String>,
}

/// The runs of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbRuns {
    /// Names of the runs of A.
    pub a: Vec<String>,
    /// Names of the runs of B.
    pub b: Vec<String>,
}

/// A task of a unit, such as a query of a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbTaskRatio {
    /// Its name: `q18`.
    pub name: String,
    /// Natural logarithm of the ratio of B's mean time to A's.
    pub log_ratio: f64,
}

/// What an experiment shows of a task, such as a query of a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbTask {
    /// Its name: `q18`.
    pub name: String,
    /// The change of its time from A to B in percent.
    pub change_percent: f64,
    /// Both ends of its interval. The intervals of all tasks hold together, at every look, with the experiment's confidence.
    pub interval_percent: [f64; 2],
    /// What that shows.
    pub verdict: AbVerdict,
}

/// A figure of both sides in a unit: the geometric mean of its slices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbLevel {
    /// The name of the metric: `tps`, `p99`.
    pub name: String,
    /// Of A, in the metric's unit.
    pub a: f64,
    /// Of B.
    pub b: f64,
}

/// What an experiment shows of a figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbFigure {
    /// The name of the metric: `tps`, `p99`.
    pub name: String,
    /// Of A, in the metric's unit: the geometric mean of the units.
    pub a: f64,
    /// Of B.
    pub b: f64,
    /// The change from A to B in percent.
    pub change_percent: f64,
    /// Both ends of its interval; absent before the first look. The interval of the experiment's metric is that of the verdict. Those of
    /// the other figures hold together, at every look, with the experiment's confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_percent: Option<[f64; 2]>,
}

/// A part of the clients' time on both sides of an experiment, as means of the units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbTimePart {
    /// The part.
    #[serde(flatten)]
    pub time: AbTime,
    /// Both ends of the 95 % interval of B's time of a transaction minus A's, in nanoseconds (Student's, of the differences of the
    /// units); absent with fewer than three units. It holds for each part by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_ns_interval: Option<[f64; 2]>,
}

/// What was measured between two restarts of the servers, or a block where they are not restarted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbUnit {
    /// Natural logarithm of the ratio of B's figure to A's.
    pub log_ratio: f64,
    /// The tasks that all of its slices did, if the workload consists of tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AbTaskRatio>,
    /// The figures of both sides; absent in records of 0.2.0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<AbLevel>,
    /// Where the clients' time went, if its slices were sampled and the server shows what it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients_time: Vec<AbTime>,
    /// The time of a transaction by statement; absent where runs are whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<AbStatementTime>,
    /// The time that the experiment had taken at its end, in seconds; not in records of 0.2.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_s: Option<f64>,
    /// The runs that it was measured by.
    pub runs: AbRuns,
}

/// An experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Whether a slice is a whole run instead: one that ends when its work is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_runs: bool,
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
    /// Whether the slices are sampled as runs are; not in records of 0.2.0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sampled: bool,
    /// Runs so far, also those that count for nothing.
    #[serde(default)]
    pub runs_made: u32,
    /// The name of the metric that decides.
    pub metric: String,
    /// Its title, with its unit; not in records of 0.2.0.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub metric_title: String,
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
    /// The smallest difference in percent that so many units with this noise show in four of five experiments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable_percent: Option<f64>,
    /// The figures of both sides, the one that decides first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<AbFigure>,
    /// Where the clients' time went on both sides, the parts that changed most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients_time: Vec<AbTimePart>,
    /// The response times of both sides.
    #[serde(default, skip_serializing_if = "AbResponses::is_empty")]
    pub responses: AbResponses,
    /// The statements of both sides, in the order in which they were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<AbStatement>,
    /// The profiles of both sides, with `--perf`.
    #[serde(default, skip_serializing_if = "AbProfile::is_empty")]
    pub profile: AbProfile,
    /// The statements and queries whose plans have another shape on B.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<AbPlanChange>,
    /// The tasks of the workload, if it consists of tasks, such as the queries of a set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AbTask>,
    /// What was measured, in its order.
    pub units: Vec<AbUnit>,
    /// All runs that count.
    pub runs: AbRuns,
}

impl Resumable for AbRecord {
    const DIRECTORY: &'static str = "ab";

    fn id(&self) -> &str {
        &self.id
    }

    fn set_ended(&mut self, why: Option<String>) {
        self.ended = why;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_of_0_2_0_is_read_with_the_options_of_its_workload() {
        let text = include_str!("../../../fixtures/runs/0.2.0/ab.json");
        let record: AbRecord = serde_json::from_str(text).unwrap();
        let options: Vec<_> = record.a.order.workload.options.iter().collect();
        assert_eq!(options, [(&"scale".to_owned(), &"1".to_owned())]);
        assert_eq!(record.verdict, AbVerdict::Undecided);
    }
}
