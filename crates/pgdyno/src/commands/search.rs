//! `pgdyno search`: finds the highest load that meets an objective.

use jiff::Timestamp;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_life::target::Demand;
use pgdyno_results::{StudyKind, admit};
use pgdyno_study::objectives::{of_workload, rarest_share};
use pgdyno_study::page::show_beside;
use pgdyno_study::private_server::{announce_given, private_server};
use pgdyno_study::search::{MAX_CLIENTS, SearchRequest, SearchRun, begin};
use pgdyno_study::steady;

use super::confirm::confirm;
use super::study::{self, Session};
use crate::cli::SearchArgs;

/// Default measured window of a run.
const DEFAULT_TIME_S: f64 = 10.0;

pub(crate) fn run(args: SearchArgs) -> Result<Code> {
    admit_arguments(&args)?;
    let (quiet, yes) = (args.run.quiet, args.run.consent.yes);
    let dsn = args.run.store.dsn();
    let mut order = args.run.order();
    let request = RunRequest::read(order.clone())?;
    let (run, source) = (&request.order, &request.source);
    let remedy = "search without it, then give the rate to a run with the fault: pgdyno run with -R RATE and --fault";
    steady::admit("a search", run, remedy)?;
    let draft = request.draft()?.resolved;
    let kinds = draft.workload.drive.txns();
    let objectives = of_workload(args.slo, &kinds)?;
    confirm(&run.target, "search", yes)?;
    let session = Session::begin(StudyKind::Search, quiet, dsn)?;
    let (interrupt, progress) = (&session.interrupt, &session.progress);
    let target = request.target()?;
    admit(run.results()).or_fail(Code::Start)?;
    let (name, started) = (target.name(), Timestamp::now());

    if run.drive.time.is_none() && run.drive.transactions.is_none() {
        order.drive.time = Some(DEFAULT_TIME_S);
    }
    // It must live until the search is over.
    let sized = |planned: Demand| match args.by.as_str() {
        "clients" => Demand { clients: args.max.unwrap_or(MAX_CLIENTS) as u32, ..planned },
        _ => planned,
    };
    let _server = private_server(&request, &mut order, sized, progress, interrupt)?;
    announce_given(target, &run.target, progress, interrupt)?;

    let wanted = SearchRequest {
        share: rarest_share(&objectives, &kinds),
        objectives,
        by: args.by,
        min: args.min,
        max: args.max,
        steps: args.steps.into(),
        precision: args.precision / 100.0,
        curve: args.curve.into(),
        time_s: run.drive.time.or_else(|| run.drive.transactions.is_none().then_some(DEFAULT_TIME_S)),
    };
    let record = begin(started, &wanted, source.name(), name.into());
    let _lock = session.lock(run.results(), &record.id, None)?;
    let mut search = SearchRun::new(record, wanted, order, session.runner(run.results()), progress);
    let ended = search.carry_out();
    if ended.is_ok() {
        study::print(search.record(), &args.format, pgdyno_report::search::format(&args.format))?;
    }
    show_beside(search.record(), &search.path(), pgdyno_report::search::page, progress);
    session.push(&search.path(), run.results());
    ended
}

fn admit_arguments(args: &SearchArgs) -> Result<()> {
    let refuse = |error: &str, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    let limits = [args.min, args.max];
    match args.by.as_str() {
        _ if args.run.given().drive.rate.is_some() => refuse("a search takes no --rate", "give --min and --max"),
        "clients" if args.run.given().drive.clients.is_some() => {
            refuse("a search for the most clients takes no --clients", "give --min and --max")
        }
        "clients" if limits.iter().flatten().any(|n| n.fract() != 0.0 || *n > 1e6) => {
            refuse("--min and --max count clients: whole numbers up to a million", "correct --min and --max")
        }
        "clients" if args.slo.iter().all(|objective| objective.least_tps().is_some()) => refuse(
            "'tps > N' alone does not say when there are too many clients",
            "add an objective that a high load does not meet, such as --slo \"p99 < 10ms\"",
        ),
        _ if args.min.zip(args.max).is_some_and(|(min, max)| min > max) => refuse("--min is above --max", "swap them"),
        _ if args.run.given().json.is_some() => {
            refuse("a search has many runs, and --json is one file", "give --format json for the search itself")
        }
        _ if args.run.again.is_some() => {
            refuse("a search has many runs, and --again is for one", "name the workload instead")
        }
        _ if args.run.given().target.tcp => {
            refuse("the private server of a search is reached by its socket: --tcp is not for it", "leave it out")
        }
        _ => Ok(()),
    }
}
