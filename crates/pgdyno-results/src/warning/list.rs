//! The warnings of a record, and their form on disk.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use super::{Severity, Warning};

/// The warnings of a record, in the order in which they are shown.
///
/// On disk they are two fields of the record: `warnings`, their texts, and `warning_details`, the same with kinds and figures, unless
/// all of them are notes. Records of 0.2.0 and earlier have the texts alone, which are read as [`Warning::Note`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Stored", into = "Stored")]
#[cfg_attr(feature = "schema", schemars(with = "Stored"))]
pub struct Warnings(Vec<Warning>);

/// The fields of the record.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
struct Stored {
    /// Warnings about the figures, as texts.
    #[serde(default)]
    warnings: Vec<String>,
    /// The same warnings with their figures, in the same order; absent if each of them is a text alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warning_details: Vec<Detail>,
}

/// A warning with its figures.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Detail {
    /// What it means for the figures.
    severity: Severity,
    /// What to do, if the reader can do something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    #[serde(flatten)]
    warning: Warning,
}

impl From<Stored> for Warnings {
    fn from(stored: Stored) -> Self {
        let Stored { warnings, warning_details } = stored;
        // A program that knows the texts only may have added one.
        if warning_details.len() == warnings.len() {
            return Self(warning_details.into_iter().map(|detail| detail.warning).collect());
        }
        Self(warnings.into_iter().map(Warning::note).collect())
    }
}

impl From<Warnings> for Stored {
    fn from(warnings: Warnings) -> Self {
        let detail = |warning: Warning| Detail { severity: warning.severity(), remedy: warning.remedy(), warning };
        let is_plain = warnings.iter().all(|warning| matches!(warning, Warning::Note { .. }));
        Self {
            warnings: warnings.iter().map(Warning::to_string).collect(),
            warning_details: match is_plain {
                true => Vec::new(),
                false => warnings.0.into_iter().map(detail).collect(),
            },
        }
    }
}

impl From<Vec<Warning>> for Warnings {
    fn from(warnings: Vec<Warning>) -> Self {
        Self(warnings)
    }
}

impl FromIterator<Warning> for Warnings {
    fn from_iter<I: IntoIterator<Item = Warning>>(warnings: I) -> Self {
        Self(warnings.into_iter().collect())
    }
}

impl Deref for Warnings {
    type Target = Vec<Warning>;

    fn deref(&self) -> &Vec<Warning> {
        &self.0
    }
}

impl DerefMut for Warnings {
    fn deref_mut(&mut self) -> &mut Vec<Warning> {
        &mut self.0
    }
}
