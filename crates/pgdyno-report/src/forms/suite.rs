//! Suites: their runs to come, where they are, and what came out.

use serde::Serialize;

/// The runs of a suite, as `pgdyno suite plan --format json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuitePlanForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Name of the suite.
    pub suite: String,
    /// The runs in their order.
    pub runs: Vec<TurnForm>,
    /// Time of all without loads, in seconds; null if some count transactions.
    pub seconds: Option<f64>,
    /// The suite's budget in seconds; null without one.
    pub budget_s: Option<f64>,
}

/// A run to come.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnForm {
    /// Key of its cell.
    pub cell: String,
    /// Number of the repetition, from 1.
    pub repetition: u32,
    /// Its time without the load, in seconds; null if it counts transactions.
    pub seconds: Option<f64>,
    /// Arguments of `pgdyno run`.
    pub args: Vec<String>,
}

/// Suites that were started, as `pgdyno suite list --format json` prints them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuitesForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The suites.
    pub suites: Vec<SuiteForm>,
}

/// A suite that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteForm {
    /// Its name.
    pub name: String,
    /// `running`, `broken off`, or how it ended.
    pub state: String,
    /// Planned runs.
    pub planned: usize,
    /// Complete runs.
    pub complete: usize,
    /// Failed runs.
    pub failed: usize,
}

/// A suite that was started in the background, as `pgdyno suite start --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteStartForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Name of its execution.
    pub name: String,
    /// Process that runs it.
    pub pid: u32,
    /// Its log.
    pub log: String,
}

/// Where a suite is, as `pgdyno suite status` and `stop --format json` print it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteStatusForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The suite.
    pub suite: SuiteForm,
    /// Process that runs it; null if none does.
    pub pid: Option<i32>,
    /// Time that was spent on it, without interruptions.
    pub spent_s: f64,
    /// Time that it will still take; null if not known.
    pub left_s: Option<f64>,
    /// Its file.
    pub file: String,
    /// Its log.
    pub log: String,
    /// Its runs in their order.
    pub runs: Vec<SuiteRunForm>,
}

/// A run of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteRunForm {
    /// Key of its cell.
    pub cell: String,
    /// Number of the repetition, from 1.
    pub repetition: u32,
    /// `to do`, `running`, `complete` or `failed`.
    pub state: String,
    /// Name of its run; null until it has ended.
    pub run: Option<String>,
    /// Why it failed; null unless it did.
    pub why: Option<String>,
}

/// The table of a suite, as `pgdyno suite report`, `run`, `resume` and `attach --format json` print it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteCellsForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Name of the suite.
    pub suite: String,
    /// Its cells.
    pub cells: Vec<CellForm>,
}

/// A cell of a suite.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellForm {
    /// Its key.
    pub cell: String,
    /// Workload, size, clients and time in words; empty until one run has begun.
    pub ran: String,
    /// Planned runs.
    pub planned: usize,
    /// Names of the complete runs.
    pub complete: Vec<String>,
    /// Names of the failed runs.
    pub failed: Vec<String>,
    /// Name of the metric.
    pub metric: String,
    /// Geometric mean of the complete runs; null without one.
    pub mean: Option<f64>,
    /// Standard deviation divided by the mean; null for fewer than two runs.
    pub spread: Option<f64>,
    /// Figure of the recipe's document; null without one.
    pub published: Option<f64>,
}
