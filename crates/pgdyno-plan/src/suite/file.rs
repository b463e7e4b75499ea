//! The format of a suite file.

use pgdyno_text::parse::Duration;
use pgdyno_workload::OptionTable;
use serde::{Deserialize, Serialize};

use super::options::Run;
use crate::TargetName;

/// The order of repetitions and cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequence {
    /// All cells once, then all of them again: A B A B. Drift affects all of them equally.
    #[default]
    Interleaved,
    /// Shuffled by the seed.
    Random,
    /// All repetitions of a cell, then those of the next; one target after another.
    AsWritten,
}

/// What to do after a failed run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Go on.
    #[default]
    Continue,
    /// Do not run the others.
    Stop,
}

/// Whether targets are provisioned and removed by their hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provision {
    /// Each target once: provisioned before its first run, removed after its last.
    Target,
    /// Targets exist and stay.
    #[default]
    Never,
}

/// The file. `W` has the options of workloads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "W: OptionTable"))]
pub(super) struct File<W> {
    pub(super) name: String,
    #[serde(default = "one")]
    pub(super) seed: u64,
    #[serde(default)]
    pub(super) order: Sequence,
    #[serde(default = "once")]
    pub(super) repetitions: u32,
    #[serde(default)]
    pub(super) cool_down: Duration,
    pub(super) budget: Option<Duration>,
    pub(super) run_timeout: Option<Duration>,
    #[serde(default)]
    pub(super) on_failure: OnFailure,
    #[serde(default)]
    pub(super) provision: Provision,
    #[serde(default)]
    pub(super) targets: Vec<TargetName>,
    /// For recipes without their own.
    pub(super) fit: Option<bool>,
    /// For recipes without their own.
    pub(super) short: Option<f64>,
    #[serde(default = "Vec::new")]
    pub(super) run: Vec<Run<W>>,
}

fn one() -> u64 {
    1
}

fn once() -> u32 {
    1
}
