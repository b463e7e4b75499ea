//! A plan and its steps.

use pgdyno_plan::{Plan, Step};
use serde::Serialize;

/// A plan, as `pgdyno plan --format json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Hash of the plan: the same for runs that may be compared without a second look.
    pub hash: String,
    /// The plan, as records have it.
    pub plan: Plan,
    /// Address of a named target, without a password; null if `plan` has it.
    pub address: Option<String>,
    /// The steps in their order.
    pub steps: Vec<StepForm>,
    /// What a load creates, a sentence for each data set.
    pub creates: Vec<String>,
    /// Statements before the run.
    pub before_run: Vec<String>,
    /// What is decided when the server has answered.
    pub undecided: Vec<String>,
    /// Notes.
    pub notes: Vec<String>,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepForm {
    /// Its name: `load`, `check`, `warm up`, `measure` and others.
    pub name: String,
    /// What it will do.
    pub what: String,
}

impl From<Step> for StepForm {
    fn from(step: Step) -> Self {
        Self { name: step.name.to_owned(), what: step.what }
    }
}
