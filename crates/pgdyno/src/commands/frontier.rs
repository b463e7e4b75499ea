//! `pgdyno frontier`: how many queries are left at how many transactions.

use jiff::Timestamp;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::plan::resolve::Request;
use pgdyno_life::target::Demand;
use pgdyno_live::Progress;
use pgdyno_plan::Order;
use pgdyno_results::{FrontierRecord, Objective, Resumable as _, StudyKind, admit, run_id};
use pgdyno_untrusted::Lock;
use pgdyno_workload::Work;

use super::ab::without_passwords;
use super::confirm::{confirm, confirm_resumed};
use super::search::of_workload;
use super::store;
use crate::cli::FrontierArgs;
use crate::frontier::{FrontierRun, points};
use crate::held::{announce_given, private_server};
use crate::interrupt;
use crate::resumable::{rendered, renderer, show_files};
use crate::study_lock;

/// Default measured window of a run.
const DEFAULT_TIME_S: f64 = 30.0;

pub(crate) fn run(args: FrontierArgs) -> Result<Code> {
    admit_arguments(&args)?;
    let (quiet, yes, format) = (args.run.quiet, args.run.consent.yes, args.format.clone());
    let dsn = args.run.store.dsn();
    let (repeats, budget_s) = (args.repeats, args.budget);
    let is_resumed = args.resume.is_some();
    let (mut record, mut order, lock) = match args.resume.clone() {
        Some(name) => resumed(args, &name)?,
        None => new(args)?,
    };
    if is_resumed {
        confirm_resumed(&[&order], yes)?;
    }
    (record.repeats, record.budget_s) = (repeats.max(record.repeats), budget_s);
    let objectives = record.objectives.iter().map(|text| Objective::parse(text));
    let objectives: Vec<Objective> = objectives.collect::<std::result::Result<_, _>>().or_fail(Code::Start)?;
    let request = Request::read(order.clone())?;
    confirm(&request.order.target, "frontier", yes)?;
    let interrupt = interrupt::listen()?;
    let progress = Progress::new(quiet);
    let store = dsn.map(|dsn| store::admit(&dsn, "frontier", &progress)).transpose()?;
    let results = order.results().to_owned();
    admit(&results).or_fail(Code::Start)?;
    let _lock = match lock {
        Some(lock) => lock,
        None => study_lock::take(&results, StudyKind::Frontier, &record.id)?,
    };
    // It must live until the frontier is done.
    let sized = |planned: Demand| Demand { clients: planned.clients + record.streams_max, ..planned };
    let _server = private_server(&request, &mut order, sized, &progress, &interrupt)?;
    announce_given(request.target()?, &request.order.target, &progress, &interrupt)?;
    if record.restored && order.from_template.is_none() {
        order.from_template = Some(String::new());
    }
    let mut frontier = FrontierRun {
        record,
        objectives: &objectives,
        order,
        results: &results,
        interrupt: &interrupt,
        progress: &progress,
    };
    let ended = frontier.go();
    let record = &frontier.record;
    if record.points.iter().any(|point| !point.runs.is_empty()) {
        super::print_rendered(
            &format,
            &rendered(record, renderer(&format, pgdyno_report::frontier::format(&format))?)?,
        )?;
    }
    show_files(record, &results, pgdyno_report::frontier::page, &progress);
    if let Some(store) = &store {
        store::push_study(store, StudyKind::Frontier, &record.path(&results), &results, &progress);
    }
    ended
}

fn new(args: FrontierArgs) -> Result<(FrontierRecord, Order, Option<Lock>)> {
    let mut order = args.run.order();
    if order.drive.time.is_none() {
        order.drive.time = Some(DEFAULT_TIME_S);
    }
    // Each run is checked by its counts; checking all data each time would take longer than many points.
    let request = Request::read(order.clone())?;
    let draft = request.draft()?;
    let stages = draft.resolved.workload.drive.stages();
    if !stages.iter().flat_map(|stage| &stage.groups).any(|group| group.work == Work::Queries) {
        let error = format!("{} has no queries beside transactions, so there is no frontier", request.source.name());
        return Err(Failure::new(Code::Start, error).hint("pgdyno frontier ch-benchmark"));
    }
    let started = Timestamp::now();
    let salt = started.as_nanosecond() as u64 ^ u64::from(std::process::id());
    let id = run_id(started, &format!("frontier-{}", request.source.name()), salt);
    let stored = without_passwords(&order)?;
    let mut record = FrontierRecord::begin(id, started, request.source.name(), draft.target.name().into(), stored);
    record.restored = !args.no_restore;
    let objectives = of_workload(args.slo, &draft.resolved.workload.drive.txns())?;
    record.objectives = objectives.iter().map(ToString::to_string).collect();
    record.streams_max = args.max_streams;
    record.points = points(args.max_streams);
    Ok((record, order, None))
}

/// Returns a frontier that goes on, with its lock.
fn resumed(args: FrontierArgs, name: &str) -> Result<(FrontierRecord, Order, Option<Lock>)> {
    let order = args.run.order();
    let mut counts = Order { out: order.out.clone(), ..Order::default() };
    counts.target.config.clone_from(&order.target.config);
    if order != counts || !args.slo.is_empty() {
        let error = "--resume goes on with a frontier as it is: beside it only --budget, --repeats, --out, --format and \
                     --quiet count";
        return Err(Failure::new(Code::Start, error).hint("leave the others out, or start another frontier"));
    }
    let path = FrontierRecord::find(order.results(), name).or_fail(Code::Start)?;
    let id = FrontierRecord::read(&path).or_fail(Code::Start)?.id;
    let lock = study_lock::take(order.results(), StudyKind::Frontier, &id)?;
    // The process that held the lock before may have changed it.
    let record = FrontierRecord::read(&path).or_fail(Code::Start)?;
    let order = Order { out: order.out, ..record.order.clone() };
    Ok((record, order, Some(lock)))
}

fn admit_arguments(args: &FrontierArgs) -> Result<()> {
    let refuse = |error: &str, hint: &str| Err(Failure::new(Code::Start, error).hint(hint));
    let run = &args.run;
    match () {
        () if run.drive.rate.is_some() => refuse("a frontier has several rates", "leave --rate out"),
        () if run.issue.streams.is_some() => refuse("a frontier has several numbers of streams", "give --max-streams"),
        () if run.issue.alone => refuse("a frontier has each side alone", "leave --alone out"),
        () if run.drive.transactions.is_some() => refuse("points of a frontier have a length", "give -T instead of -t"),
        () if run.again.is_some() || run.json.is_some() => {
            refuse("a frontier has many runs: --again and --json are for one", "give --format json for the frontier")
        }
        () if run.target.tcp => {
            refuse("the private server of a frontier is reached by its socket: --tcp is not for it", "leave it out")
        }
        () => Ok(()),
    }
}
