//! The state of an execution in addition to the records of its runs: `state.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pgdyno_plan::SuitePlan;
use pgdyno_plan::suite::Sequence;
use serde::{Deserialize, Serialize};

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum End {
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
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Budget => "ended by its budget",
            Self::Failure => "stopped after a failed run",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A planned run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Planned {
    /// The cell's key.
    pub(crate) run: String,
    /// The number of its repetition.
    pub(crate) repetition: u32,
    /// How long it takes without a load, if that is known.
    #[serde(default)]
    pub(crate) expected_s: Option<f64>,
}

/// The state of an execution in addition to the records of its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) format_version: u32,
    /// The suite's name.
    pub(crate) suite: String,
    /// The identifier of this execution.
    pub(crate) id: String,
    /// The suite's file, absolute.
    pub(crate) file: PathBuf,
    /// SHA-256 of its content.
    pub(crate) hash: String,
    /// Where it was started: paths of the runs are relative to it.
    pub(crate) cwd: PathBuf,
    /// The directory of the runs' records, absolute.
    pub(crate) results: PathBuf,
    /// The file with the named targets.
    pub(crate) config: PathBuf,
    /// Labels of all its runs.
    #[serde(default)]
    pub(crate) labels: Vec<(String, String)>,
    /// When it started.
    pub(crate) begun_at: String,
    pub(crate) order: Sequence,
    pub(crate) seed: u64,
    /// All runs in their order.
    pub(crate) runs: Vec<Planned>,
    /// The time that was spent on it, without interruptions.
    pub(crate) worked_s: f64,
    /// The current run, as an index in `runs`.
    #[serde(default)]
    pub(crate) current: Option<usize>,
    /// Runs that failed although their record says interrupted, and why.
    #[serde(default)]
    pub(crate) failed: BTreeMap<usize, String>,
    /// Records that no longer count, because their runs are to be repeated.
    #[serde(default)]
    pub(crate) superseded: Vec<String>,
    /// Targets that were provisioned and are not torn down yet, with their connection string if the hook printed one.
    #[serde(default)]
    pub(crate) provisioned: BTreeMap<String, Option<String>>,
    /// How it ended; absent while it runs, and if it was killed.
    #[serde(default)]
    pub(crate) end: Option<End>,
}

impl State {
    /// Returns the place that identifies the record of a run.
    pub(crate) fn place(&self, nth: usize) -> SuitePlan {
        let Planned { run, repetition, .. } = self.runs[nth].clone();
        SuitePlan { suite: self.suite.clone(), id: self.id.clone(), run, repetition }
    }

    /// The name of this execution.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.suite, self.id)
    }
}
