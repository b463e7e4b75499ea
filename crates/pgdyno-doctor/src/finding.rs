//! The result of one check.

use serde::Serialize;

/// How much a finding matters, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// Nothing to do.
    Passed,
    /// Good to know: it explains figures, but does not disturb them.
    Note,
    /// It shifts figures, or makes them vary.
    Warning,
    /// Figures would be wrong, or data is in danger.
    Error,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The name of the check, such as `steal`.
    pub check: &'static str,
    /// How much it matters.
    pub severity: FindingSeverity,
    /// What was found, with its figure: `3.1 % of CPU time`.
    pub figure: String,
    /// The figure as a number, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The unit of `value`: `ms`, `percent`, `cpus`, `bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// Why it matters; empty if the check passed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What to do about it; empty if the check passed, or nothing can be done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl Finding {
    /// Returns a check that passed.
    pub(crate) fn passed(check: &'static str, figure: impl Into<String>) -> Self {
        let figure = figure.into();
        Self {
            check,
            severity: FindingSeverity::Passed,
            figure,
            value: None,
            unit: None,
            why: String::new(),
            remedy: String::new(),
        }
    }

    /// Adds the number behind the figure.
    pub(crate) fn measured(self, value: f64, unit: &'static str) -> Self {
        Self { value: Some(value), unit: Some(unit), ..self }
    }

    /// Makes a note of it.
    pub(crate) fn note(self, why: impl Into<String>, remedy: impl Into<String>) -> Self {
        self.raise(FindingSeverity::Note, why, remedy)
    }

    /// Makes a warning of it.
    pub(crate) fn warning(self, why: impl Into<String>, remedy: impl Into<String>) -> Self {
        self.raise(FindingSeverity::Warning, why, remedy)
    }

    /// Makes an error of it.
    pub(crate) fn error(self, why: impl Into<String>, remedy: impl Into<String>) -> Self {
        self.raise(FindingSeverity::Error, why, remedy)
    }

    fn raise(self, severity: FindingSeverity, why: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { severity, why: why.into(), remedy: remedy.into(), ..self }
    }
}
