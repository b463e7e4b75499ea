//! `pgdyno run` with several values of an option: a suite, and how the figures grow.

use std::fs;
use std::path::{Path, PathBuf};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_life::record::page::with_timeline;
use pgdyno_report::html::{self, ReportRun};
use pgdyno_report::scaling::{Axis, FORMATS, scaling};
use pgdyno_results::{RunRecord, read_record};
use pgdyno_study::suite::check;
use pgdyno_study::suite::execution::{ExecutionOrigin, SuiteExecution};
use pgdyno_study::suite::run::SuiteOutcome;
use pgdyno_study::suite::standing;
use pgdyno_study::suite::sweep::{Sweep, SweptOption};

use super::confirm::confirm;
use super::suite;
use crate::cli::RunCommand;

/// The page, in the directory of the execution.
const PAGE_FILE: &str = "scaling.html";

pub(crate) fn run(command: RunCommand, sweep: &Sweep) -> Result<Code> {
    let RunCommand { run: args, slo, format } = command;
    let refuse =
        |what: &str| Err(CommandError::new(Code::Start, format!("{what} is of one run, and these are several")));
    if args.again.is_some() {
        return refuse("--again");
    }
    if !slo.is_empty() {
        return refuse("--slo")
            .map_err(|error: CommandError| error.hint("`pgdyno search` finds the highest load that meets objectives"));
    }
    for option in &sweep.options {
        option.check().map_err(|error| CommandError::new(Code::Start, error))?;
    }
    let (yes, store, results) = (args.consent.yes, args.store.clone(), args.out.out.clone());
    suite::admit_store(&store)?;
    let order = args.order();
    if order.json.is_some() {
        return refuse("--json");
    }
    confirm(&order.target, "run", yes)?;
    let config = order.target.config.clone().unwrap_or_else(|| pgdyno_plan::targets::FILE.into());
    let name = name(&order, sweep);
    let target = RunRequest::read(order.clone())?.draft()?.target.name();
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
    let code = outcome.code;
    let runs = standing::runs(&outcome.execution.state, &outcome.standings);
    match format.as_str() {
        "json" => super::print_form(&pgdyno_report::suite::form(&outcome.execution.state.name(), &runs))?,
        "csv" => super::print(pgdyno_report::suite::csv(&outcome.execution.state.name(), &runs).as_bytes())?,
        "markdown" => super::print_text(&pgdyno_report::suite::markdown(&outcome.execution.state.name(), &runs))?,
        _ => {
            // The table of the suite says why a run has no figures.
            if code != Code::Success {
                super::print_lines(&format!("\n{}", pgdyno_report::suite::text(&runs)))?;
            }
            show(&outcome, &plan, sweep)?;
        }
    }
    Ok(code)
}

/// Returns the name of the suite: `tproc-c-by-clients`.
fn name(order: &pgdyno_plan::Order, sweep: &Sweep) -> String {
    let by: Vec<_> = sweep.options.iter().map(SweptOption::title).collect();
    let name = format!("{}-by-{}", order.workload.id(), by.join("-"));
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' };
    name.chars().map(letter).collect::<String>().trim_start_matches(['-', '.']).to_owned()
}

/// Shows throughput and p99 along the first option, for each combination of the others, and writes the page.
fn show(outcome: &SuiteOutcome, plan: &pgdyno_plan::suite::Suite, sweep: &Sweep) -> Result<()> {
    let Some(axis) = sweep.options.first().and_then(|option| Axis::named(&option.axis())) else { return Ok(()) };
    let records = outcome.standings.iter().flatten().filter(|done| done.failure.is_none()).map(|done| &done.record);
    let mut groups: Vec<(String, Vec<RunRecord>)> = Vec::new();
    for record in records {
        let of = others(record, plan, sweep);
        match groups.iter_mut().find(|(known, _)| *known == of) {
            Some((_, group)) => group.push(record.clone()),
            None => groups.push((of, vec![record.clone()])),
        }
    }
    let render = FORMATS.iter().find(|(name, _)| *name == "text").map(|(_, render)| *render);
    for (of, group) in &groups {
        for metric in [None, Some("p99")] {
            // Without a figure there is nothing to show, which the table of the suite explains.
            let (Ok(scaling), Some(render)) = (scaling(group.clone(), &axis, metric), render) else { continue };
            let heading = if of.is_empty() { String::new() } else { format!("{of}: ") };
            let mut bytes = format!("\n{heading}").into_bytes();
            render(&scaling, super::look(), &mut bytes).or_fail(Code::Start)?;
            super::print_rendered("text", &bytes)?;
        }
    }
    let all: Vec<_> = groups.into_iter().flat_map(|(_, group)| group).collect();
    match page(all, &axis, &outcome.execution)? {
        Some(page) => super::print_lines(&format!("\nopen {}\n", page.display())),
        None => Ok(()),
    }
}

/// Returns the values of the other options in a run, as arguments.
fn others(record: &RunRecord, plan: &pgdyno_plan::suite::Suite, sweep: &Sweep) -> String {
    let cell = record.plan.suite.as_ref().and_then(|place| plan.cells.iter().find(|cell| cell.key == place.run));
    let others: Vec<_> = sweep.options.iter().skip(1).map(SweptOption::argument).collect();
    let args =
        cell.into_iter().flat_map(|cell| &cell.args).filter(|arg| others.iter().any(|other| arg.starts_with(other)));
    args.map(|arg| arg.trim_start_matches("--").trim_start_matches("set=")).collect::<Vec<_>>().join(", ")
}

/// Writes the page of the runs, and returns its path; `None` if no run has a figure.
fn page(records: Vec<RunRecord>, axis: &Axis, execution: &SuiteExecution) -> Result<Option<PathBuf>> {
    let results = &execution.state.results;
    let Ok(scaling) = scaling(records.clone(), axis, None) else { return Ok(None) };
    let mut runs: Vec<ReportRun> = Vec::new();
    for record in records {
        let path = results.join(&record.id).join(pgdyno_results::RECORD);
        runs.push(with_timeline(&path, read_record(&path).or_fail(Code::Start)?, results)?);
    }
    let mut bytes = Vec::new();
    html::write_scaling(&scaling, runs, &mut bytes).or_fail(Code::Start)?;
    let path = execution.dir.join(PAGE_FILE);
    fs::write(&path, bytes).or_fail(Code::Run)?;
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).map(Path::to_path_buf).ok());
    Ok(Some(relative.unwrap_or(path)))
}
