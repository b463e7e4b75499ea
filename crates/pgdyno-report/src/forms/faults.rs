//! Which faults a run can cause.

use schemars::JsonSchema;
use serde::Serialize;

/// Faults, and whether a target can have them, as `pgdyno fault list --format json` prints them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FaultsForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The target, without a password.
    pub target: String,
    /// The faults.
    pub faults: Vec<FaultForm>,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FaultForm {
    /// What `--fault` takes for it; `FILE` is a program of the user.
    pub name: String,
    /// What it does.
    pub what: String,
    /// What it needs.
    pub needs: String,
    /// Whether the target can have it.
    pub possible: bool,
    /// Why not; null if it can.
    pub missing: Option<String>,
    /// What to do about that; null if there is nothing to do.
    pub remedy: Option<String>,
}
