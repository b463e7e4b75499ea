//! `pgdyno search`: finds the highest load that meets an objective.

use jiff::Timestamp;
use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::plan::resolve::Request;
use pgdyno_life::target::Demand;
use pgdyno_results::{Objective, SearchRecord, StudyKind, admit, run_id};
use pgdyno_workload::Txn;

use crate::cli::SearchArgs;
use crate::held::{announce_given, private_server};
use crate::interrupt;
use crate::search::{MAX_CLIENTS, SearchRun, Task};
use crate::study_lock;
use pgdyno_live::Progress;

use super::confirm::confirm;
use super::store;

/// Default measured window of a run.
const DEFAULT_TIME_S: f64 = 10.0;

pub(crate) fn run(mut args: SearchArgs) -> Result<Code> {
    admit_arguments(&args)?;
    let (quiet, yes) = (args.run.quiet, args.run.consent.yes);
    let dsn = args.run.store.dsn();
    let mut order = args.run.order();
    let request = Request::read(order.clone())?;
    let (run, source) = (&request.order, &request.source);
    let draft = request.draft()?.resolved;
    let kinds = draft.workload.drive.txns();
    args.slo = of_workload(args.slo, &kinds)?;
    confirm(&run.target, "search", yes)?;
    let interrupt = interrupt::listen()?;
    let progress = Progress::new(quiet);
    let store = dsn.map(|dsn| store::admit(&dsn, "search", &progress)).transpose()?;
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
    let _server = private_server(&request, &mut order, sized, &progress, &interrupt)?;
    announce_given(target, &run.target, &progress, &interrupt)?;

    let suite = run_id(started, &source.name(), 0);
    // A run's name consists of time, workload and salt; removing the others leaves the workload.
    let workload = suite.split_once('-').and_then(|(_, rest)| rest.rsplit_once('-')).map_or("", |(name, _)| name);
    let suite = format!("search-{workload}");
    let id = run_id(started, &suite, started.as_nanosecond() as u64 ^ u64::from(std::process::id()));
    let task = Task {
        objectives: &args.slo,
        share: share(&args.slo, &kinds),
        by: &args.by,
        min: args.min,
        max: args.max,
        steps: args.steps.into(),
        precision: args.precision / 100.0,
        curve: args.curve.into(),
        time_s: run.drive.time.or_else(|| run.drive.transactions.is_none().then_some(DEFAULT_TIME_S)),
        order,
        results: run.results(),
        interrupt: &interrupt,
        progress: &progress,
    };
    let record = SearchRecord::begin(id, started, source.name(), name.into(), &args.by);
    let _lock = study_lock::take(run.results(), StudyKind::Search, &record.id)?;
    let mut search = SearchRun::begin(task, record, suite)?;
    let ended = search.go();
    let render = pgdyno_report::search::format(&args.format)
        .ok_or_else(|| Failure::new(Code::Start, format!("unknown format '{}'", args.format)))?;
    if ended.is_ok() {
        let mut bytes = Vec::new();
        render(&search.record, &mut bytes).or_fail(Code::Start)?;
        super::print_rendered(&args.format, &bytes)?;
    }
    progress.note(&format!("record: {}", search.path().display()));
    if let Some(store) = &store {
        store::push_study(store, StudyKind::Search, &search.path(), run.results(), &progress);
    }
    ended
}

/// Returns the objectives with the names of this workload's kinds of transactions.
///
/// # Errors
/// When the workload does not run one of them.
pub(super) fn of_workload(objectives: Vec<Objective>, kinds: &[Txn]) -> Result<Vec<Objective>> {
    let known: Vec<_> = kinds.iter().filter(|kind| kind.weight > 0.0).map(|kind| kind.name).collect();
    let named = objectives.into_iter().map(|objective| objective.of_workload(&known));
    named.collect::<std::result::Result<_, _>>().map_err(|error| Failure::new(Code::Start, format!("--slo {error}")))
}

/// Returns the share of the rarest kind that an objective names in all transactions; 1 if none names one.
fn share(objectives: &[Objective], kinds: &[Txn]) -> f64 {
    let all: f64 = kinds.iter().map(|kind| kind.weight).sum();
    let named = |kind: &&Txn| objectives.iter().any(|objective| objective.transaction() == Some(kind.name));
    kinds.iter().filter(named).map(|kind| kind.weight / all).fold(1.0, f64::min)
}

fn admit_arguments(args: &SearchArgs) -> Result<()> {
    let refuse = |error: &str, hint: &str| Err(Failure::new(Code::Start, error).hint(hint));
    let limits = [args.min, args.max];
    match args.by.as_str() {
        _ if args.run.drive.rate.is_some() => refuse("a search takes no --rate", "give --min and --max"),
        "clients" if args.run.drive.clients.is_some() => {
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
        _ if args.run.json.is_some() => {
            refuse("a search has many runs, and --json is one file", "give --format json for the search itself")
        }
        _ if args.run.again.is_some() => {
            refuse("a search has many runs, and --again is for one", "name the workload instead")
        }
        _ if args.run.target.tcp => {
            refuse("the private server of a search is reached by its socket: --tcp is not for it", "leave it out")
        }
        _ => Ok(()),
    }
}
