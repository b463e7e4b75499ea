//! `pgdyno list`: lists workloads, recipes and runs.

use std::path::PathBuf;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_report::forms::{
    FORMAT_VERSION, ListedWorkloadForm, ParamForm, RecipesForm, RunsForm, UnreadableForm, WorkloadsForm,
};
use pgdyno_report::runs::line;
use pgdyno_results::{RECORD, RunRecord, StoreError, list_runs, read_record};
use pgdyno_workload::{Meta, Param};
use pgdyno_workloads::families::{FAMILIES, Family};
use pgdyno_workloads::own::embedded;
use pgdyno_workloads::registry;

use super::results::Results;
use crate::cli::{List, SelectArgs};

pub(crate) fn run(what: &List) -> Result<Code> {
    match what {
        List::Workloads(format) if format.is_json() => super::print_form(&workloads_form(&metas()?))?,
        List::Workloads(_) => super::print_text(&workloads())?,
        List::Recipes(format) if format.is_json() => super::print_form(&recipes_form())?,
        List::Recipes(_) => super::print_text(&pgdyno_report::recipes(pgdyno_plan::recipe::all()))?,
        List::Runs { select, format } if format.is_json() => super::print_form(&runs_form(select)?)?,
        List::Runs { select, .. } => super::print_lines(&runs(select, super::columns())?)?,
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

/// Returns all workloads by family, a line for each.
fn workloads() -> String {
    let names = || FAMILIES.iter().flat_map(Family::names);
    let width = names().map(str::len).max().unwrap_or_default();
    let mut text = String::new();
    for family in FAMILIES {
        text += &format!("{}\n", family.title);
        for (name, what) in family.members {
            text += &format!("  {name:<width$}  {what}\n");
        }
    }
    text + "`pgdyno show tproc-c` lists the parameters of a workload.\n"
}

/// Returns workloads with their parameters.
pub(super) fn workloads_form(metas: &[&Meta]) -> WorkloadsForm {
    let param = |param: &Param| ParamForm {
        name: param.name.to_owned(),
        help: param.help.to_owned(),
        default: param.default.to_owned(),
        fixed: param.is_fixed(),
    };
    let workload = |meta: &&Meta| ListedWorkloadForm {
        id: meta.id.to_owned(),
        summary: meta.summary.to_owned(),
        params: meta.params.iter().map(param).collect(),
    };
    WorkloadsForm { format_version: FORMAT_VERSION, workloads: metas.iter().map(workload).collect() }
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

/// Returns a line for each run, of at most `columns` columns.
fn runs(select: &SelectArgs, columns: Option<usize>) -> Result<String> {
    let results = Results::open(&select.results)?;
    let runs = selected(&results, select)?;
    let width = runs.iter().map(|run| run.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for run in &runs {
        let shown = run.record.as_ref().map_or_else(|error| format!("unreadable: {error}"), line);
        let line = format!("{:<width$}  {shown}", run.name);
        text += &columns.map_or_else(|| line.clone(), |columns| cut(&line, columns));
        text.push('\n');
    }
    if text.is_empty() {
        let such = if select.selection().is_all() { "" } else { " such" };
        text = format!("no{such} runs in {}\n", results.place());
    }
    Ok(text)
}

/// Returns a line without the end that does not fit.
fn cut(line: &str, columns: usize) -> String {
    match line.char_indices().nth(columns) {
        None => line.to_owned(),
        Some(_) => line.chars().take(columns - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_fit_on_a_screen() {
        let text = workloads();
        assert!(text.lines().count() <= 40 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(metas().unwrap().iter().all(|meta| text.contains(&format!("  {} ", meta.id))), "{text}");
    }

    #[test]
    fn a_line_that_is_too_long_ends_with_an_ellipsis() {
        assert_eq!((cut("é-1-2", 5), cut("é-1-2", 4)), ("é-1-2".to_owned(), "é-1…".to_owned()));
    }
}
