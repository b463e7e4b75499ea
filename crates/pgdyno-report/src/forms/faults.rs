//! Which faults a run can cause.

use serde::Serialize;

/// Faults, and whether a target can have them, as `pgdyno fault list --format json` prints them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultsForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The target, without a password.
    pub target: String,
    /// The faults.
    pub faults: Vec<FaultForm>,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultForm {
    /// What `--fault` takes for it; `FILE` is a program of the user.
    pub name: String,
    /// What it does.
    pub what: String,
    /// What it needs.
    pub needs: String,
    /// Whether all that it needs is there.
    pub possible: bool,
    /// What is missing; null if nothing is known to be.
    pub missing: Option<String>,
    /// What to do about that; null if there is nothing to do.
    pub remedy: Option<String>,
    /// What it needs that only another program knows, such as a server to fail over; null otherwise. A run does not refuse it.
    pub unknown: Option<String>,
}
