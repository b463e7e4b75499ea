//! The state of an execution in addition to the records of its runs: `state.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pgdyno_plan::SuitePlan;
use pgdyno_plan::suite::Sequence;
use serde::{Deserialize, Serialize};

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Every run is done.
    Finished,
    /// The remaining runs did not fit into the budget.
    Budget,
    /// A run failed, and the suite stops then.
    Failure,
    /// The user ended it.
    Interrupted,
}

impl End {
    /// Returns the end as text.
    pub fn words(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Budget => "stopped: budget exhausted",
            Self::Failure => "stopped after a failed run",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A planned run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// The cell's key.
    pub run: String,
    /// The number of its repetition.
    pub repetition: u32,
    /// How long it takes without a load, if that is known.
    #[serde(default)]
    pub expected_s: Option<f64>,
}

/// The state of an execution in addition to the records of its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionState {
    /// Version of the format.
    pub format_version: u32,
    /// The suite's name.
    pub suite: String,
    /// The identifier of this execution.
    pub id: String,
    /// The suite's file, absolute.
    pub file: PathBuf,
    /// SHA-256 of its content.
    pub hash: String,
    /// Where it was started: paths of the runs are relative to it.
    pub cwd: PathBuf,
    /// The directory of the runs' records, absolute.
    pub results: PathBuf,
    /// The file with the named targets.
    pub config: PathBuf,
    /// Labels of all its runs.
    #[serde(default)]
    pub labels: Vec<(String, String)>,
    /// When it started.
    pub begun_at: String,
    /// How the runs are ordered.
    pub order: Sequence,
    /// The seed of a random order.
    pub seed: u64,
    /// All runs in their order.
    pub runs: Vec<Planned>,
    /// The time that was spent on it, without interruptions.
    pub worked_s: f64,
    /// The current run, as an index in `runs`.
    #[serde(default)]
    pub current: Option<usize>,
    /// Runs that failed although their record says interrupted, and why.
    #[serde(default)]
    pub failed: BTreeMap<usize, String>,
    /// Records that no longer count, because their runs are to be repeated.
    #[serde(default)]
    pub superseded: Vec<String>,
    /// Targets that were provisioned and are not removed yet, with their connection string if the hook printed one.
    #[serde(default)]
    pub provisioned: BTreeMap<String, Option<String>>,
    /// How it ended; absent while it runs, and if it was killed.
    #[serde(default)]
    pub end: Option<End>,
}

impl ExecutionState {
    /// Returns the place that identifies the record of a run.
    pub fn place(&self, nth: usize) -> SuitePlan {
        let Planned { run, repetition, .. } = self.runs[nth].clone();
        SuitePlan { suite: self.suite.clone(), id: self.id.clone(), run, repetition }
    }

    /// The name of this execution.
    pub fn name(&self) -> String {
        format!("{}-{}", self.suite, self.id)
    }
}
