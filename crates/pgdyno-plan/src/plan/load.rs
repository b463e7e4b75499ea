//! How the data of a run is loaded and checked.

use serde::{Deserialize, Serialize};

/// Whether the data is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LoadWhen {
    /// Unless the same data is already there.
    #[default]
    IfMissing,
    /// Always; data that pgdyno loaded earlier is dropped.
    Always,
    /// Never: without the data the run does not start.
    Never,
}

/// How the data of a run is loaded and checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadPlan {
    /// Whether the data is loaded.
    #[serde(rename = "load")]
    pub choice: LoadWhen,
    /// Connections that load.
    pub loaders: usize,
    /// Whether an interrupted load of any size can resume.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumable: bool,
    /// Whether tables are filled unlogged and made logged afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlogged: bool,
    /// Whether the data is checked before and after the run.
    pub checks: bool,
    /// Whether the VACUUM and TRUNCATE that its workload starts with are skipped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_vacuum: bool,
    /// Whether a schema that differs from the loaded one is allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_schema_changes: bool,
}
