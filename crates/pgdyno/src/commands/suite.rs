//! `pgdyno suite`.

use std::path::Path;

use clap::Parser as _;
use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_plan::Order;
use pgdyno_plan::suite::{Suite as Plan, Turn};
use pgdyno_report::forms::{FORMAT_VERSION, SuitePlanForm, SuiteStartForm, SuitesForm, TurnForm};
use pgdyno_report::suite as report;

use crate::cli::{BeginArgs, Cli, Command, ExecutionArgs, FormatArgs, PushArgs, ResumeArgs, Suite, SuiteArgs};
use crate::interrupt;
use crate::signals;
use pgdyno_live::ProgressView;
use pgdyno_study::suite::check::{self, CellDraft};
use pgdyno_study::suite::execution::{self, ExecutionLock, ExecutionOrigin, SuiteExecution};
use pgdyno_study::suite::run::{LockedExecution, SuiteOutcome, carry_out};
use pgdyno_study::suite::standing::CompletedRun;
use pgdyno_study::suite::{background, decider, standing, status};

use super::confirm::confirm;
use super::store;

pub(crate) fn run(action: &Suite) -> Result<Code> {
    match action {
        Suite::Run(args) => {
            admit_store(&args.store)?;
            let (suite, drafts, mut execution) = begin(args, "suite run")?;
            let lock = execution.lock()?;
            execute(execution, &lock, &suite, &drafts, false, &args.store, &args.format)
        }
        Suite::Plan { suite, format } => plan(suite, format.is_json()),
        Suite::Start(args) => {
            admit_store(&args.store)?;
            start(&begin(args, "suite start")?.2, &args.store, &args.format)
        }
        Suite::Resume(args) => resume(args),
        Suite::Status { which, format } => {
            let execution = find(which)?;
            let standings = standing::standings(&execution.state)?;
            match format.is_json() {
                true => super::print_form(&status::form(&execution, &standings))?,
                false => super::print_lines(&status::text(&execution, &standings))?,
            }
            Ok(Code::Success)
        }
        Suite::Attach { which, format } => attach(&find(which)?, format),
        Suite::Stop { which, now, format } => {
            let execution = find(which)?;
            background::stop(&execution, *now)?;
            if format.is_json() {
                let execution = SuiteExecution::open(&execution.dir)?;
                let standings = standing::standings(&execution.state)?;
                super::print_form(&status::form(&execution, &standings))?;
                return Ok(Code::Success);
            }
            let name = execution.state.name();
            super::print_lines(&format!("stopped; `pgdyno suite resume {name}` resumes it\n"))?;
            Ok(Code::Success)
        }
        Suite::List { out, format } => list(&out.out, format.is_json()),
        Suite::Report { which, format } => {
            let execution = find(which)?;
            let standings = standing::standings(&execution.state)?;
            print_report(&execution, &standings, format)?;
            Ok(Code::Success)
        }
    }
}

/// Prints the table of a suite in a format.
pub(super) fn print_report(execution: &SuiteExecution, standings: &[Option<CompletedRun>], format: &str) -> Result<()> {
    let (name, runs) = (execution.state.name(), standing::runs(&execution.state, standings));
    match format {
        "json" => super::print_form(&report::form(&name, &runs)),
        "markdown" => super::print_text(&report::markdown(&name, &runs)),
        "csv" => super::print(report::csv(&name, &runs).as_bytes()),
        "junit" => super::print(report::junit(&name, &runs).or_fail(Code::Start)?.as_bytes()),
        _ => super::print_text(&report::text(&runs)),
    }
}

/// Checks that the store of a suite's runs is there, if there is one.
pub(super) fn admit_store(store: &PushArgs) -> Result<()> {
    let Some(dsn) = store.dsn() else { return Ok(()) };
    store::admit(&dsn, "suite", &ProgressView::new(false)).map(drop)
}

fn find(which: &ExecutionArgs) -> Result<SuiteExecution> {
    SuiteExecution::find(&which.out.out, which.name.as_deref())
}

/// Reads a suite's file and checks all of it.
fn read(args: &SuiteArgs) -> Result<(String, Plan, Vec<CellDraft>)> {
    let text = std::fs::read_to_string(&args.file).map_err(|error| {
        CommandError::new(Code::Start, format!("failed to read the suite {}: {error}", args.file.display()))
    })?;
    let suite = check::read(&args.file, &text)?;
    let drafts = check::drafts(&suite, &args.file, &args.config, &order_of)?;
    Ok((text, suite, drafts))
}

/// Reads the order of a run from its arguments, as `pgdyno run` does, with those that the suite adds.
pub(super) fn order_of(args: Vec<String>) -> Result<Order> {
    let own = ["pgdyno", "run", "--until-eof", "--suite-run=s:i:r:1", "--out=."].map(str::to_owned);
    match Cli::try_parse_from(own.into_iter().chain(args)).map(|cli| cli.command) {
        Ok(Command::Run(command)) => Ok(command.run.order()),
        Ok(_) => Err(CommandError::new(Code::Start, "these are not arguments of a run")),
        Err(error) => {
            let text = error.render().to_string();
            let message = text.split("\n\nUsage:").next().unwrap_or_default();
            let message = message.split("\n\nFor more information").next().unwrap_or_default();
            Err(CommandError::new(Code::Start, message.trim().trim_start_matches("error: ").to_owned()))
        }
    }
}

/// Creates a new execution of a file.
fn begin(args: &BeginArgs, command: &str) -> Result<(Plan, Vec<CellDraft>, SuiteExecution)> {
    let (args, yes) = (&args.suite, args.consent.yes);
    let (text, suite, drafts) = read(args)?;
    confirm_all(&drafts, command, yes)?;
    let (file, config, results) = (args.file.as_path(), args.config.as_path(), args.out.out.as_path());
    let origin = ExecutionOrigin { file, text: &text, config, results, labels: &args.labels };
    let execution = SuiteExecution::create(&suite, &drafts, &origin)?;
    Ok((suite, drafts, execution))
}

/// Asks once if some cells run on the server of the environment.
fn confirm_all(drafts: &[CellDraft], command: &str, yes: bool) -> Result<()> {
    let unnamed = drafts.iter().find(|draft| draft.target_order.target.is_none());
    unnamed.map_or(Ok(()), |draft| confirm(&draft.target_order, command, yes))
}

fn plan(args: &SuiteArgs, is_json: bool) -> Result<Code> {
    let (_, suite, drafts) = read(args)?;
    let turns = suite.turns();
    let known: Option<f64> = turns.iter().map(|turn| drafts[turn.cell].seconds()).sum();
    let rests = suite.cool_down_s * turns.len().saturating_sub(1) as f64;
    let turn = |turn: &Turn| TurnForm {
        cell: suite.cells[turn.cell].key.clone(),
        repetition: turn.repetition,
        seconds: drafts[turn.cell].seconds(),
        args: suite.cells[turn.cell].args.clone(),
    };
    let form = SuitePlanForm {
        format_version: FORMAT_VERSION,
        suite: suite.name.clone(),
        runs: turns.iter().map(turn).collect(),
        seconds: known.map(|seconds| seconds + rests),
        budget_s: suite.budget_s,
    };
    match is_json {
        true => super::print_form(&form)?,
        false => super::print_lines(&report::plan(&form))?,
    }
    Ok(Code::Success)
}

fn start(execution: &SuiteExecution, store: &PushArgs, format: &FormatArgs) -> Result<Code> {
    let pid = background::start(execution, store.dsn().as_deref())?;
    let name = execution.state.name();
    if format.is_json() {
        let log = execution.log().display().to_string();
        super::print_form(&SuiteStartForm { format_version: FORMAT_VERSION, name, pid, log })?;
        return Ok(Code::Success);
    }
    let text = format!(
        "suite {name} is started (process {pid}); its log is {}\n`pgdyno suite attach {name}` shows it, `suite status` tells \
         how far it is, `suite stop` ends it\n",
        execution.log().display()
    );
    super::print_text(&text)?;
    Ok(Code::Success)
}

fn resume(args: &ResumeArgs) -> Result<Code> {
    if args.detached {
        signals::leave_terminal()?;
    }
    admit_store(&args.store)?;
    let mut execution = resumed(args)?;
    std::env::set_current_dir(&execution.state.cwd).map_err(|error| {
        let error = format!("failed to enter {}, where the suite was started: {error}", execution.state.cwd.display());
        CommandError::new(Code::Start, error)
    })?;
    let text = std::fs::read_to_string(execution.dir.join("suite.toml")).or_fail(Code::Start)?;
    let suite = check::read(&execution.state.file, &text)?;
    let drafts = check::drafts(&suite, &execution.state.file, &execution.state.config, &order_of)?;
    confirm_all(&drafts, "suite resume", args.consent.yes || args.detached)?;
    let lock = execution.lock()?;
    if args.retry_failed {
        retry_failed(&mut execution)?;
    }
    if args.detach {
        drop(lock);
        return start(&execution, &args.store, &args.format);
    }
    execute(execution, &lock, &suite, &drafts, args.detached, &args.store, &args.format)
}

/// Returns the execution to resume.
fn resumed(args: &ResumeArgs) -> Result<SuiteExecution> {
    let results = &args.out.out;
    let Some(file) = args.name.as_deref().map(Path::new).filter(|path| path.is_file()) else {
        return SuiteExecution::find(results, args.name.as_deref());
    };
    let text = std::fs::read_to_string(file).or_fail(Code::Start)?;
    let suite = check::read(file, &text)?;
    let execution = SuiteExecution::find(results, Some(&suite.name))?;
    if execution.state.hash != execution::hash(&text) {
        let name = execution.state.name();
        let error = format!("{} has changed since {name} was started from it", file.display());
        return Err(CommandError::new(Code::Start, error).hint(format!(
            "`pgdyno suite resume {name}` resumes it as it was; `pgdyno suite run` starts again with what the file says now"
        )));
    }
    Ok(execution)
}

/// Makes failed runs be repeated.
fn retry_failed(execution: &mut SuiteExecution) -> Result<()> {
    let standings = standing::standings(&execution.state)?;
    for (nth, done) in standings.into_iter().enumerate() {
        if let Some(done) = done.filter(|done| done.failure.is_some()) {
            execution.state.failed.remove(&nth);
            execution.state.superseded.push(done.record.id);
        }
    }
    execution.write()
}

/// Runs the remaining runs in this process, while it holds the lock.
fn execute(
    execution: SuiteExecution,
    lock: &ExecutionLock,
    suite: &Plan,
    drafts: &[CellDraft],
    detached: bool,
    store: &PushArgs,
    format: &FormatArgs,
) -> Result<Code> {
    let SuiteOutcome { execution, standings, code } = carry_out_here(execution, lock, suite, drafts, detached, store)?;
    let runs = standing::runs(&execution.state, &standings);
    match format.is_json() {
        true => super::print_form(&report::form(&execution.state.name(), &runs))?,
        false => super::print_lines(&format!("\n{}", report::text(&runs)))?,
    }
    Ok(code)
}

/// Carries out the remaining runs in this process, while it holds the lock.
pub(super) fn carry_out_here(
    execution: SuiteExecution,
    _: &ExecutionLock,
    suite: &Plan,
    drafts: &[CellDraft],
    detached: bool,
    store: &PushArgs,
) -> Result<SuiteOutcome> {
    let interrupt = interrupt::listen()?;
    let progress = ProgressView::new(false).details(false);
    let (store, interrupt, events) = (store.dsn(), &interrupt, &progress);
    let work =
        LockedExecution { execution, suite, drafts, is_detached: detached, store: store.as_deref(), interrupt, events };
    interrupt.attribute_to_signal(carry_out(work))
}

/// Follows a suite to its end, and returns its exit code.
fn attach(execution: &SuiteExecution, format: &FormatArgs) -> Result<Code> {
    let is_json = format.is_json();
    // Programs get the table of the suite only; `suite status` names its log.
    background::attach(execution, &ProgressView::new(false), &|text| {
        if is_json { Ok(()) } else { super::print_lines(text) }
    })?;
    let execution = SuiteExecution::open(&execution.dir)?;
    if execution.state.end.is_none() {
        let name = execution.state.name();
        return Err(CommandError::new(Code::Run, format!("the process of suite {name} is gone"))
            .hint(format!("`pgdyno suite resume {name}` resumes it")));
    }
    let standings = standing::standings(&execution.state)?;
    if is_json {
        super::print_form(&report::form(&execution.state.name(), &standing::runs(&execution.state, &standings)))?;
    }
    Ok(decider::code(execution.state.end, &standings))
}

fn list(results: &Path, is_json: bool) -> Result<Code> {
    let suite = |execution: SuiteExecution| {
        let standings = standing::standings(&execution.state)?;
        Ok(status::counts(&execution, &standings))
    };
    let (all, unreadable) = SuiteExecution::all(results)?;
    let progress = ProgressView::new(false);
    for failure in &unreadable {
        progress.warn(&format!("left out: {}", failure.text()));
    }
    let suites = all.into_iter().map(suite).collect::<Result<Vec<_>>>()?;
    if is_json {
        super::print_form(&SuitesForm { format_version: FORMAT_VERSION, suites })?;
        return Ok(Code::Success);
    }
    let mut text = report::list(&suites);
    if text.is_empty() {
        let readable = if unreadable.is_empty() { "" } else { " readable" };
        text = format!("no{readable} suites in {}\n", results.display());
    }
    super::print_text(&text)?;
    Ok(Code::Success)
}
