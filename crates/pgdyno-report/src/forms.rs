//! JSON of what commands print that is no record: plain data with named fields, each of which says its unit.
//!
//! `schemas/v1` has the JSON Schema of each ([`crate::schemas`]). Fields are only added within one [`FORMAT_VERSION`].

mod agents;
mod checks;
mod cloud;
mod faults;
mod lists;
mod plan;
mod recipe;
mod server;
mod store;
mod suite;

use std::io::{self, Write};

use serde::Serialize;

pub use agents::{AgentForm, AgentsForm};
pub use checks::{CheckOutcome, ChecksForm, DropForm, NotedForm, OutcomeForm};
pub use cloud::{
    CloudModuleForm, CloudModulesForm, CloudPlanForm, LabForm, LabSizeForm, LabsForm, MoneyForm, PlannedSizeForm,
    VerifiedForm,
};
pub use faults::{FaultForm, FaultsForm};
pub use lists::{
    ListedRecipeForm, ListedRunForm, ListedStudyForm, ListedWorkloadForm, ParamForm, RecipesForm, RunsForm,
    UnreadableForm, WorkloadsForm,
};
pub use plan::{PlanForm, StepForm};
pub use recipe::RecipeForm;
pub use server::{NullServerForm, ServerForm, ServerSettingForm, ServerState};
pub use store::{
    LeftOutFileForm, PulledForm, PushedForm, RefusedForm, StoreInitForm, StoreListForm, StorePruneForm, StorePullForm,
    StorePushForm, StoredForm,
};
pub use suite::{
    CellForm, SuiteCellsForm, SuiteForm, SuitePlanForm, SuiteRunForm, SuiteStartForm, SuiteStatusForm, SuitesForm,
    TurnForm,
};

/// Version of all forms of this module.
pub const FORMAT_VERSION: u32 = 1;

/// A run that takes no part, and why.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct LeftOut<'a> {
    /// Its name.
    run: &'a str,
    /// Why.
    why: &'a str,
}

/// Returns the form of runs that take no part.
pub(crate) fn left_out(runs: &[(String, String)]) -> Vec<LeftOut<'_>> {
    runs.iter().map(|(run, why)| LeftOut { run, why }).collect()
}

/// Writes a form as indented JSON that ends with a line feed.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(form: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, form)?;
    writeln!(out)
}
