//! `pgdyno list`: lists workloads, recipes and runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_report::forms::{
    FORMAT_VERSION, ListedWorkloadForm, ParamForm, RecipesForm, RunsForm, UnreadableForm, WorkloadsForm,
};
use pgdyno_report::runs::line;
use pgdyno_report::studies::{self, listed};
use pgdyno_results::{RECORD, RunRecord, Status, StoreError, Study, StudyKind, list_runs, read_record};
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
        List::Runs { select, format, .. } if format.is_json() => super::print_form(&runs_form(select)?)?,
        List::Runs { select, all, .. } => super::print_lines(&runs(select, *all, super::columns())?)?,
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
    let results = Results::open(&select.results)?;
    let mut form =
        RunsForm { format_version: FORMAT_VERSION, runs: Vec::new(), unreadable: Vec::new(), studies: Vec::new() };
    let mut of_studies = BTreeSet::new();
    for run in selected(&results, select)? {
        match run.record {
            Ok(record) => {
                of_studies.extend(record.plan.suite.as_ref().map(|place| place.id.clone()));
                form.runs.push((&record).into());
            }
            Err(error) => form.unreadable.push(UnreadableForm { id: run.name, error: error.to_string() }),
        }
    }
    let studies = Study::list(results.directory());
    let studies = studies.iter().filter_map(|(kind, path)| listed(*kind, path).ok());
    form.studies = studies.filter(|study| select.selection().is_all() || of_studies.contains(&study.id)).collect();
    form.studies.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    Ok(form)
}

/// A run of a list: the name of its directory, and its record, if it can be read.
pub(super) struct Listed {
    name: String,
    pub(super) record: std::result::Result<RunRecord, StoreError>,
}

impl Listed {
    /// Returns what the list shows beside the name.
    fn shown(&self) -> String {
        self.record.as_ref().map_or_else(|error| format!("unreadable: {error}"), line)
    }
}

/// Returns how many entries are wanted.
fn most(select: &SelectArgs) -> usize {
    select.last.map_or(usize::MAX, |last| usize::try_from(last).unwrap_or(usize::MAX))
}

/// Returns the selected runs, oldest first. Runs whose record cannot be read are included if all runs, or all of the
/// last ones, are selected.
pub(super) fn selected(results: &Results, select: &SelectArgs) -> Result<Vec<Listed>> {
    let mut runs: Vec<_> = matching(results, select)?.take(most(select)).collect();
    runs.reverse();
    Ok(runs)
}

/// Returns the selected runs, the latest first, however many are wanted.
fn matching(results: &Results, select: &SelectArgs) -> Result<impl Iterator<Item = Listed>> {
    let selection = select.selection();
    let read = move |path: PathBuf| {
        let record = read_record(&path.join(RECORD));
        let is_selected = record.as_ref().map_or_else(|_| selection.is_all(), |record| selection.admits(record));
        let name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        is_selected.then(|| Listed { name: name(), record })
    };
    Ok(list_runs(results.directory()).or_fail(Code::Start)?.into_iter().rev().filter_map(read))
}

/// The runs of a suite, or of a study without a record, in a list.
struct Together {
    suite: String,
    first: String,
    complete: usize,
    runs: usize,
}

/// Returns the list of runs. Those of studies and suites have one line together, unless `all` of them are wanted or a suite is
/// named. A line has at most `columns` columns.
fn runs(select: &SelectArgs, all: bool, columns: Option<usize>) -> Result<String> {
    let results = Results::open(&select.results)?;
    let lines = match all || select.suite.is_some() {
        true => selected(&results, select)?.into_iter().map(|run| (run.name.clone(), run.shown())).collect(),
        false => wholes(&results, select)?,
    };
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let whole = |(name, shown): &(String, String)| format!("{name:<width$}  {shown}");
    let fitting = |line: String| columns.map_or_else(|| line.clone(), |columns| cut(&line, columns));
    let text: String = lines.iter().map(whole).map(|line| fitting(line) + "\n").collect();
    if text.is_empty() {
        let such = if select.selection().is_all() { "" } else { " such" };
        return Ok(format!("no{such} runs in {}\n", results.place()));
    }
    Ok(text)
}

/// Returns names and lines of the selected runs that are no part of another measurement, and of the studies and suites whose runs
/// are selected, oldest first.
fn wholes(results: &Results, select: &SelectArgs) -> Result<Vec<(String, String)>> {
    let (mut lines, mut suites) = (Vec::new(), BTreeMap::<String, Together>::new());
    // The first run of a suite is its place in the list.
    for run in matching(results, select)?.collect::<Vec<_>>().into_iter().rev() {
        let Some(place) = run.record.as_ref().ok().and_then(|record| record.plan.suite.clone()) else {
            lines.push((run.name.clone(), run.name.clone(), run.shown()));
            continue;
        };
        let is_complete = run.record.as_ref().is_ok_and(|record| record.status == Status::Complete);
        let name = match StudyKind::of_run(&place) {
            Some(_) => place.id,
            None => format!("{}-{}", place.suite, place.id),
        };
        let first = || Together { suite: place.suite, first: run.name.clone(), complete: 0, runs: 0 };
        let suite = suites.entry(name).or_insert_with(first);
        suite.complete += usize::from(is_complete);
        suite.runs += 1;
    }
    for (kind, path) in Study::list(results.directory()) {
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if suites.remove(&id).is_some() || select.selection().is_all() {
            let shown = listed(kind, &path);
            let shown = shown.map_or_else(|error| format!("unreadable: {error}"), |study| studies::line(&study));
            lines.push((id.clone(), id, shown));
        }
    }
    for (name, suite) in suites {
        lines.push((suite.first, name, studies::suite_line(&suite.suite, suite.complete, suite.runs)));
    }
    // Names of runs and studies begin with the time, in seconds.
    lines.sort_by_key(|(first, ..)| first.chars().take("20260101T000000Z".len()).collect::<String>());
    let last = lines.len().saturating_sub(most(select));
    Ok(lines.split_off(last).into_iter().map(|(_, name, shown)| (name, shown)).collect())
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
