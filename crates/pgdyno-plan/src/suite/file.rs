//! What a suite's file may say.

use serde::{Deserialize, Serialize};

use super::options::Run;
use crate::units::Duration;

/// How repetitions and cells follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequence {
    /// All cells once, then all of them again: A B A B. What drifts hits all of them alike.
    #[default]
    Interleaved,
    /// Shuffled by the seed.
    Random,
    /// All repetitions of a cell, then those of the next; one target after another.
    AsWritten,
}

/// What a failed run means for those after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Nothing: the suite goes on.
    #[default]
    Continue,
    /// They are not run.
    Stop,
}

/// Whether targets are provisioned and torn down by their hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provision {
    /// Each target once: before its first run, and away after its last.
    Target,
    /// Targets are there and stay.
    #[default]
    Never,
}

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
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
    pub(super) targets: Vec<String>,
    /// For recipes that say nothing themselves.
    pub(super) fit: Option<bool>,
    /// For recipes that say nothing themselves.
    pub(super) short: Option<f64>,
    #[serde(default)]
    pub(super) run: Vec<Run>,
}

fn one() -> u64 {
    1
}

fn once() -> u32 {
    1
}
