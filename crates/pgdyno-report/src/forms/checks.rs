//! Checks of data, and what became of data.

use pgdyno_results::{LedgerRecord, LoadRecord};
use serde::Serialize;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// The condition holds.
    Holds,
    /// It does not: the data is wrong.
    Broken,
    /// It does not, and another program is known to cause this.
    Known,
    /// It was not checked; the notes say why.
    Skipped,
}

/// A check and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeForm {
    /// When or beside what it was checked: `as it is`, `after the load`, `isolation`.
    pub when: String,
    /// Its clause or name.
    pub name: String,
    /// Its condition.
    pub condition: String,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// How long it took in seconds; null if it was skipped.
    pub seconds: Option<f64>,
    /// The first rows that violate it, or why it was skipped.
    pub notes: Vec<String>,
}

/// A figure that a run must leave as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotedForm {
    /// Name of the check.
    pub name: String,
    /// Its condition.
    pub condition: String,
    /// The figures.
    pub figures: Vec<String>,
}

/// Checks, as `pgdyno check --format json` and `pgdyno load --format json` print them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChecksForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Loads, by `pgdyno load`; empty if all data was there.
    pub loads: Vec<LoadRecord>,
    /// The checks in their order.
    pub checks: Vec<OutcomeForm>,
    /// Figures that a run must leave as they are.
    pub noted: Vec<NotedForm>,
    /// The commits of a run, by `pgdyno check ledger`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerRecord>,
}

/// What was dropped, as `pgdyno drop --format json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DropForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Tables, views and routines.
    pub dropped: Vec<String>,
    /// Whether the stamp of a load was dropped.
    pub stamp: bool,
}
