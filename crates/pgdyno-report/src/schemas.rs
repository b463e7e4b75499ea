//! JSON Schemas of records and forms, made from the types. The files in `schemas/v1` are what [`all`] returns; a test holds them, and
//! validates what the program writes.

use pgdyno_results::table::{CellKind, Column, EXPORT};
use pgdyno_results::{AbRecord, FrontierRecord, RunRecord, SearchRecord};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::compare::json::ComparisonForm;
use crate::forms;
use crate::history::json::HistoriesForm;
use crate::scaling::json::ScalingForm;

/// Returns the schemas of this crate by the name of their file, without `.json`.
#[must_use]
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("export", export()),
        ("run", schema::<RunRecord>("run")),
        ("search", schema::<SearchRecord>("search")),
        ("ab", schema::<AbRecord>("ab")),
        ("frontier", schema::<FrontierRecord>("frontier")),
        ("compare", schema::<ComparisonForm<'_>>("compare")),
        ("history", schema::<HistoriesForm<'_>>("history")),
        ("scaling", schema::<ScalingForm<'_>>("scaling")),
        ("plan", schema::<forms::PlanForm>("plan")),
        ("list-workloads", schema::<forms::WorkloadsForm>("list-workloads")),
        ("list-recipes", schema::<forms::RecipesForm>("list-recipes")),
        ("list-runs", schema::<forms::RunsForm>("list-runs")),
        ("show", schema::<forms::RecipeForm>("show")),
        ("check", schema::<forms::ChecksForm>("check")),
        ("drop", schema::<forms::DropForm>("drop")),
        ("agents", schema::<forms::AgentsForm>("agents")),
        ("cloud-list", schema::<forms::CloudModulesForm>("cloud-list")),
        ("cloud-plan", schema::<forms::CloudPlanForm>("cloud-plan")),
        ("cloud-status", schema::<forms::LabsForm>("cloud-status")),
        ("fault-list", schema::<forms::FaultsForm>("fault-list")),
        ("server", schema::<forms::ServerForm>("server")),
        ("server-null", schema::<forms::NullServerForm>("server-null")),
        ("store-init", schema::<forms::StoreInitForm>("store-init")),
        ("store-list", schema::<forms::StoreListForm>("store-list")),
        ("store-push", schema::<forms::StorePushForm>("store-push")),
        ("store-pull", schema::<forms::StorePullForm>("store-pull")),
        ("store-prune", schema::<forms::StorePruneForm>("store-prune")),
        ("suite-start", schema::<forms::SuiteStartForm>("suite-start")),
        ("suite-plan", schema::<forms::SuitePlanForm>("suite-plan")),
        ("suite-list", schema::<forms::SuitesForm>("suite-list")),
        ("suite-status", schema::<forms::SuiteStatusForm>("suite-status")),
        ("suite-report", schema::<forms::SuiteCellsForm>("suite-report")),
    ]
}

/// Returns the schema of the table that `pgdyno export --format json` prints, from its columns.
fn export() -> Value {
    let property = |column: &Column| {
        let kind = match column.kind {
            CellKind::Text | CellKind::Time => "string",
            CellKind::Count => "integer",
            CellKind::Number(_) => "number",
            CellKind::Flag => "boolean",
            CellKind::Json => "object",
        };
        let mut property = json!({ "type": [kind, "null"] });
        if column.kind == CellKind::Time {
            property["format"] = "date-time".into();
        }
        (column.name.to_owned(), property)
    };
    let names: Vec<_> = EXPORT.iter().map(|column| column.name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pgdyno export",
        "description": "Runs as rows of one table. docs/results.md has the columns and their units; null: not measured.",
        "type": "array",
        "items": {
            "type": "object",
            "properties": EXPORT.iter().map(property).collect::<Map<_, _>>(),
            "required": names,
        },
    })
}

/// Returns the schema of what `T` is written as, under the title `pgdyno NAME`.
#[must_use]
pub fn schema<T: JsonSchema>(name: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut value = generator.into_root_schema_for::<T>().to_value();
    // A newer version may write more fields than an older schema knows.
    open(&mut value);
    value["title"] = format!("pgdyno {name}").into();
    value
}

/// Removes `"additionalProperties": false`.
fn open(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("additionalProperties") == Some(&Value::Bool(false)) {
                map.remove("additionalProperties");
            }
            map.values_mut().for_each(open);
        }
        Value::Array(list) => list.iter_mut().for_each(open),
        _ => {}
    }
}
