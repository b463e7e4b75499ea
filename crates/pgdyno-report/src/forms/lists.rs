//! Workloads, recipes and runs.

use std::collections::BTreeMap;

use pgdyno_plan::recipe::Recipe;
use pgdyno_plan::{RecipePlan, SuitePlan};
use pgdyno_results::{MetricRecord, RunRecord, Status, TrustRecord};
use serde::Serialize;

/// Workloads, as `pgdyno list workloads --format json` prints them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadsForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The workloads.
    pub workloads: Vec<ListedWorkloadForm>,
}

/// A workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedWorkloadForm {
    /// Its name on the command line.
    pub id: String,
    /// One line about it.
    pub summary: String,
    /// Its parameters.
    pub params: Vec<ParamForm>,
}

/// A parameter of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParamForm {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub help: String,
    /// Its default value.
    pub default: String,
    /// Whether it always has this value.
    pub fixed: bool,
}

/// Recipes, as `pgdyno list recipes --format json` prints them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecipesForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The recipes.
    pub recipes: Vec<ListedRecipeForm>,
}

/// A recipe; `pgdyno show RECIPE --format json` has all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedRecipeForm {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub title: String,
    /// Its workload.
    pub workload: String,
    /// Names of its sizes.
    pub sizes: Vec<String>,
}

impl From<&Recipe> for ListedRecipeForm {
    fn from(recipe: &Recipe) -> Self {
        Self {
            name: recipe.name.clone(),
            title: recipe.title.clone(),
            workload: recipe.workload.clone(),
            sizes: recipe.sizes.iter().map(|size| size.name.clone()).collect(),
        }
    }
}

/// Runs, as `pgdyno list runs --format json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunsForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The runs, oldest first.
    pub runs: Vec<ListedRunForm>,
    /// Run directories whose record cannot be read.
    pub unreadable: Vec<UnreadableForm>,
    /// The experiments, searches and frontiers that these runs belong to, oldest first; without a filter, all of them.
    pub studies: Vec<ListedStudyForm>,
}

/// An experiment, a search or a frontier; its record has all of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedStudyForm {
    /// Its kind: `experiment`, `search` or `frontier`.
    pub kind: String,
    /// Its name.
    pub id: String,
    /// Begin, UTC, RFC 3339.
    pub started_at: String,
    /// Its workload.
    pub workload: String,
    /// Its verdict, or how it ended: `faster`, `interrupted`.
    pub status: String,
    /// Its main figure in a few words; empty before there is one.
    pub figure: String,
    /// Number of its runs that count.
    pub runs: usize,
}

/// A run; its `run.json` has all of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedRunForm {
    /// Its name.
    pub id: String,
    /// How it ended.
    pub status: Status,
    /// Begin, UTC, RFC 3339.
    pub started_at: String,
    /// Its workload.
    pub workload: String,
    /// Its target, without passwords.
    pub target: String,
    /// Name of the size's unit; empty without data.
    pub scale_name: String,
    /// The size.
    pub scale: u64,
    /// Clients of the first stage.
    pub clients: u32,
    /// The recipe that it followed; null without one.
    pub recipe: Option<RecipePlan>,
    /// Its place in a suite; null without one.
    pub suite: Option<SuitePlan>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its metrics by name.
    pub metrics: BTreeMap<String, MetricRecord>,
    /// How far its figures can be trusted; null until it has ended.
    pub trust: Option<TrustRecord>,
}

impl From<&RunRecord> for ListedRunForm {
    fn from(record: &RunRecord) -> Self {
        let plan = &record.plan;
        Self {
            id: record.id.clone(),
            status: record.status,
            started_at: record.started_at.clone(),
            workload: plan.workload.clone(),
            target: plan.target.to_string(),
            scale_name: plan.scale_name.clone(),
            scale: plan.scale,
            clients: plan.stage_clients(),
            recipe: plan.recipe.clone(),
            suite: plan.suite.clone(),
            labels: record.labels.clone(),
            metrics: record.metrics.clone(),
            trust: record.trust.clone(),
        }
    }
}

/// A run directory whose record cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnreadableForm {
    /// Name of the directory.
    pub id: String,
    /// Why.
    pub error: String,
}
