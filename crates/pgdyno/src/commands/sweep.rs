//! `pgdyno run` with several values of an option: a suite, and how the figures grow.

use std::fs;
use std::path::{Path, PathBuf};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_plan::suite::Suite;
use pgdyno_plan::{Order, targets};
use pgdyno_report::scaling::{Axis, FORMATS, scaling};
use pgdyno_results::{RECORD, RunRecord};
use pgdyno_study::suite::check;
use pgdyno_study::suite::execution::{ExecutionOrigin, SuiteExecution};
use pgdyno_study::suite::sweep::{Sweep, SweptOption};

use super::confirm::confirm;
use super::scaling::{PAGE_FILE, rendered};
use super::suite;
use crate::cli::RunCommand;

/// The format for people.
const TEXT: &str = "text";

pub(crate) fn run(command: RunCommand, sweep: &Sweep) -> Result<Code> {
    let RunCommand { run: args, slo, format, open } = command;
    let one_run = |what: &str| CommandError::new(Code::Start, format!("{what} is for one run, and these are several"));
    if args.again.is_some() {
        return Err(one_run("--again"));
    }
    if !slo.is_empty() {
        return Err(one_run("--slo").hint("`pgdyno search` finds the highest load that meets objectives"));
    }
    for option in &sweep.options {
        option.check().map_err(|error| CommandError::new(Code::Start, error))?;
    }
    let (yes, store, results) = (args.consent.yes, args.store.clone(), args.out.out.clone());
    suite::admit_store(&store)?;
    let order = args.order();
    if order.json.is_some() {
        return Err(one_run("--json"));
    }
    confirm(&order.target, "run", yes)?;
    let config = order.target.config.clone().unwrap_or_else(|| targets::FILE.into());
    let name = name(&order, sweep);
    // What was given is stored as it was given, and refused if it holds a password.
    let target = match &order.target.target {
        Some(given) => given.clone(),
        None => RunRequest::read(order.clone())?.draft()?.target.name(),
    };
    let text = sweep.suite(&order, target.as_str(), &name);
    // The suite is stored with its execution, which `suite resume` continues.
    let file = PathBuf::from(format!("{name}.toml"));
    let plan = check::read(&file, &text)?;
    let drafts = check::drafts(&plan, &file, &config, &suite::order_of)?;
    let origin =
        ExecutionOrigin { file: &file, text: &text, config: &config, results: &results, labels: &order.labels };
    let mut execution = SuiteExecution::create(&plan, &drafts, &origin)?;
    let lock = execution.lock()?;
    let outcome = suite::carry_out_here(execution, &lock, &plan, &drafts, false, &store)?;
    let done = outcome.standings.iter().flatten().filter(|done| done.failure.is_none());
    let records: Vec<RunRecord> = done.map(|done| done.record.clone()).collect();
    let first = sweep.options.first().zip(records.first());
    let axis = first.and_then(|(option, record)| option.axis(&record.plan.scale_name)).filter(|_| format == TEXT);
    // The table of the suite says why a run has no figures, and stands alone where no axis has the option.
    if outcome.code != Code::Success || axis.is_none() {
        suite::print_report(&outcome.execution, &outcome.standings, &format)?;
    }
    if let Some(axis) = axis {
        show(&records, &axis, &plan, sweep)?;
        if let Some(page) = page(records, &axis, &outcome.execution)? {
            super::print_lines(&format!("\nopen {}\n", page.display()))?;
            if open {
                super::open_page(&page);
            }
        }
    }
    Ok(outcome.code)
}

/// Returns the name of the suite: `tproc-c-by-clients`.
fn name(order: &Order, sweep: &Sweep) -> String {
    let by: Vec<_> = sweep.options.iter().map(SweptOption::title).collect();
    let name = format!("{}-by-{}", order.workload.id(), by.join("-"));
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' };
    name.chars().map(letter).collect::<String>().trim_start_matches(['-', '.']).to_owned()
}

/// Shows throughput and p99 along an axis, for each combination of the options after the first.
fn show(records: &[RunRecord], axis: &Axis, plan: &Suite, sweep: &Sweep) -> Result<()> {
    let Some((_, render)) = FORMATS.iter().find(|(name, _)| *name == TEXT) else { return Ok(()) };
    let mut groups: Vec<(String, Vec<RunRecord>)> = Vec::new();
    for record in records {
        let of = others(record, plan, sweep);
        match groups.iter_mut().find(|(known, _)| *known == of) {
            Some((_, group)) => group.push(record.clone()),
            None => groups.push((of, vec![record.clone()])),
        }
    }
    for (of, group) in groups {
        for metric in [None, Some("p99")] {
            // Few transactions have no percentile.
            let Ok(scaling) = scaling(group.clone(), axis, metric) else { continue };
            let heading = if of.is_empty() { String::new() } else { format!("{of}: ") };
            let mut bytes = format!("\n{heading}").into_bytes();
            render(&scaling, super::look(), &mut bytes).or_fail(Code::Start)?;
            super::print_rendered(TEXT, &bytes)?;
        }
    }
    Ok(())
}

/// Returns the values of the options after the first in a run: `threads=2`.
fn others(record: &RunRecord, plan: &Suite, sweep: &Sweep) -> String {
    let cell = record.plan.suite.as_ref().and_then(|place| plan.cells.iter().find(|cell| cell.key == place.run));
    let others: Vec<_> = sweep.options.iter().skip(1).map(SweptOption::argument).collect();
    let args = cell.into_iter().flat_map(|cell| &cell.args);
    let args = args.filter(|arg| others.iter().any(|other| arg.starts_with(other)));
    args.map(|arg| arg.trim_start_matches("--").trim_start_matches("set=")).collect::<Vec<_>>().join(", ")
}

/// Writes the page of the runs into the directory of the execution, and returns its path; `None` if no run has a figure.
fn page(records: Vec<RunRecord>, axis: &Axis, execution: &SuiteExecution) -> Result<Option<PathBuf>> {
    let results = &execution.state.results;
    let Ok(scaling) = scaling(records.clone(), axis, None) else { return Ok(None) };
    let named = records.into_iter().map(|record| (results.join(&record.id).join(RECORD), record)).collect();
    let path = execution.dir.join(PAGE_FILE);
    fs::write(&path, rendered(&scaling, named, results)?).or_fail(Code::Run)?;
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).map(Path::to_path_buf).ok());
    Ok(Some(relative.unwrap_or(path)))
}
