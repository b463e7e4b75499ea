//! How server and machines are watched.

use serde::{Deserialize, Serialize};

/// How server and machines are watched while the clients run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WatchPlan {
    /// Whether nothing is sampled.
    pub off: bool,
    /// How the server's machine is read, if not by this program from `/proc`: `ssh user@host` or `command`, whose text
    /// is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// Number of statements whose plans are stored.
    pub statement_plans: u32,
    /// Whether the workload's queries are explained after the measured time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plans: bool,
    /// Whether the server's processes are profiled in the measured window.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub perf: bool,
}

impl WatchPlan {
    /// Returns true if all values are the defaults.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}
