//! `pgdyno list`: lists workloads, recipes and runs.

use std::path::PathBuf;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_report::forms::{
    FORMAT_VERSION, ListedWorkloadForm, ParamForm, RecipesForm, RunsForm, UnreadableForm, WorkloadsForm,
};
use pgdyno_results::{Metric, RECORD, RunRecord, StoreError, list_runs, read_record};
use pgdyno_text::units;
use pgdyno_workload::{Meta, Param};
use pgdyno_workloads::own::embedded;
use pgdyno_workloads::registry;

use super::results::Results;
use crate::cli::{List, SelectArgs};

pub(crate) fn run(what: &List) -> Result<Code> {
    match what {
        List::Workloads(format) if format.is_json() => super::print_form(&workloads_form()?)?,
        List::Workloads(_) => super::print_text(&workloads()?)?,
        List::Recipes(format) if format.is_json() => super::print_form(&recipes_form())?,
        List::Recipes(_) => super::print_text(&recipes())?,
        List::Runs { select, format } if format.is_json() => super::print_form(&runs_form(select)?)?,
        List::Runs { select, .. } => super::print_text(&runs(select)?)?,
    }
    Ok(Code::Success)
}

/// Returns all workloads, those of directories in the program last.
fn metas() -> Result<Vec<&'static Meta>> {
    let mut metas: Vec<&Meta> = registry::all().iter().map(|entry| entry.meta).collect();
    for directory in embedded::names().filter_map(embedded::find) {
        metas.push(directory.or_fail(Code::Start)?.meta());
    }
    Ok(metas)
}

fn workloads() -> Result<String> {
    let mut text = String::new();
    for meta in metas()? {
        text += &format!("{:<14} {}\n", meta.id, meta.summary);
        for param in meta.params {
            let value = if param.is_fixed() { "always" } else { "default:" };
            text += &format!("  {:<16}  {} [{value} {}]\n", param.name, param.help, param.default);
        }
    }
    Ok(text)
}

fn workloads_form() -> Result<WorkloadsForm> {
    let param = |param: &Param| ParamForm {
        name: param.name.to_owned(),
        help: param.help.to_owned(),
        default: param.default.to_owned(),
        fixed: param.is_fixed(),
    };
    let workload = |meta: &Meta| ListedWorkloadForm {
        id: meta.id.to_owned(),
        summary: meta.summary.to_owned(),
        params: meta.params.iter().map(param).collect(),
    };
    Ok(WorkloadsForm { format_version: FORMAT_VERSION, workloads: metas()?.into_iter().map(workload).collect() })
}

fn recipes_form() -> RecipesForm {
    let recipes = pgdyno_plan::recipe::all();
    RecipesForm { format_version: FORMAT_VERSION, recipes: recipes.iter().map(|recipe| recipe.into()).collect() }
}

fn runs_form(select: &SelectArgs) -> Result<RunsForm> {
    let mut form = RunsForm { format_version: FORMAT_VERSION, runs: Vec::new(), unreadable: Vec::new() };
    for run in selected(&Results::open(&select.results)?, select)? {
        match run.record {
            Ok(record) => form.runs.push((&record).into()),
            Err(error) => form.unreadable.push(UnreadableForm { id: run.name, error: error.to_string() }),
        }
    }
    Ok(form)
}

fn recipes() -> String {
    let mut text = String::new();
    for recipe in pgdyno_plan::recipe::all() {
        let sizes: Vec<_> = recipe.sizes.iter().map(|size| size.name.as_str()).collect();
        text += &format!("{:<26} {}\n{:<26} sizes: {}\n", recipe.name, recipe.title, "", sizes.join(", "));
    }
    text
}

/// A run of a list: the name of its directory, and its record, if it can be read.
pub(super) struct Listed {
    name: String,
    pub(super) record: std::result::Result<RunRecord, StoreError>,
}

/// Returns the selected runs, oldest first. Runs whose record cannot be read are included if all runs, or all of the
/// last ones, are selected.
pub(super) fn selected(results: &Results, select: &SelectArgs) -> Result<Vec<Listed>> {
    let selection = select.selection();
    let read = |path: &PathBuf| {
        let record = read_record(&path.join(RECORD));
        let is_selected = record.as_ref().map_or_else(|_| selection.is_all(), |record| selection.admits(record));
        let name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        is_selected.then(|| Listed { name: name(), record })
    };
    let last = select.last.map_or(usize::MAX, |last| usize::try_from(last).unwrap_or(usize::MAX));
    let mut runs: Vec<_> =
        list_runs(results.directory()).or_fail(Code::Start)?.iter().rev().filter_map(read).take(last).collect();
    runs.reverse();
    Ok(runs)
}

fn runs(select: &SelectArgs) -> Result<String> {
    let results = Results::open(&select.results)?;
    let runs = selected(&results, select)?;
    let width = runs.iter().map(|run| run.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for run in &runs {
        let shown = run.record.as_ref().map_or_else(|error| format!("unreadable: {error}"), line);
        text += &format!("{:<width$}  {shown}\n", run.name);
    }
    if text.is_empty() {
        let such = if select.selection().is_all() { "" } else { " such" };
        text = format!("no{such} runs in {}\n", results.place());
    }
    Ok(text)
}

/// Returns the line of a run with its result.
fn line(record: &RunRecord) -> String {
    let plan = &record.plan;
    let mut words = Vec::new();
    if let Some(recipe) = &plan.recipe {
        let size = [&recipe.name, &recipe.size, &recipe.variant].map(String::as_str);
        words.push(size.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
    }
    words.extend(record.labels.iter().map(|(name, value)| format!("{name}={value}")));
    if let Some(suite) = &plan.suite {
        words.push(format!("{} {} #{}", suite.suite, suite.run, suite.repetition));
    }
    if !plan.scale_name.is_empty() {
        words.push(format!("{} {}", plan.scale_name, plan.size()));
    }
    words.push(units::plural(plan.stage_clients().into(), "client"));
    words.push(record.summary.as_ref().map_or_else(
        || "nothing measured".to_owned(),
        |summary| {
            let own = Metric::of_workload(record).into_iter();
            let own =
                own.filter_map(|metric| Some(format!("{} {}, ", metric.listed(metric.value(record)?), metric.title())));
            format!("{}{} TPS", own.collect::<String>(), units::rate(summary.tps))
        },
    ));
    format!("{:<11} {}", record.status.name(), words.join(" · "))
}
