//! `pgdyno frontier`: query throughput at each transaction rate.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_life::target::Demand;
use pgdyno_results::{Resumable as _, StudyKind};
use pgdyno_study::frontier::{FrontierRequest, FrontierRun, FrontierStart, begin, resume};
use pgdyno_study::page::show_files;
use pgdyno_study::private_server::{announce_given, private_server};

use super::confirm::{confirm, confirm_resumed};
use super::study::{self, Session, asks_for_nothing_else};
use crate::cli::FrontierArgs;

/// Default measured window of a run.
const DEFAULT_TIME_S: f64 = 30.0;

pub(crate) fn run(args: FrontierArgs) -> Result<Code> {
    admit_arguments(&args)?;
    let (quiet, yes, format) = (args.run.quiet, args.run.consent.yes, args.format.clone());
    let dsn = args.run.store.dsn();
    let (repeats, budget_s) = (args.repeats, args.budget);
    let is_resumed = args.resume.is_some();
    let FrontierStart { mut record, mut order, objectives, lock } = begun(args)?;
    if is_resumed {
        confirm_resumed(&[&order], yes)?;
    }
    (record.repeats, record.budget_s) = (repeats.max(record.repeats), budget_s);
    let request = RunRequest::read(order.clone())?;
    confirm(&request.order.target, "frontier", yes)?;
    let session = Session::begin(StudyKind::Frontier, quiet, dsn)?;
    let (interrupt, progress) = (&session.interrupt, &session.progress);
    let results = order.results().to_owned();
    let _lock = session.lock(&results, &record.id, lock)?;
    // It must live until the frontier is done.
    let sized = |planned: Demand| Demand { clients: planned.clients + record.streams_max, ..planned };
    let _server = private_server(&request, &mut order, sized, progress, interrupt)?;
    announce_given(request.target()?, &request.order.target, progress, interrupt)?;
    let mut frontier = FrontierRun::new(record, objectives, order, session.runner(&results), progress);
    let ended = frontier.carry_out();
    let record = frontier.record();
    if record.points.iter().any(|point| !point.runs.is_empty()) {
        study::print(record, &format, pgdyno_report::frontier::format(&format))?;
    }
    show_files(record, &results, pgdyno_report::frontier::page, progress);
    session.push(&record.path(&results), &results);
    ended
}

/// Returns the frontier that the arguments begin, or go on with.
fn begun(args: FrontierArgs) -> Result<FrontierStart> {
    let mut order = args.run.order();
    let Some(name) = args.resume else {
        order.drive.time = order.drive.time.or(Some(DEFAULT_TIME_S));
        let (objectives, streams_max, restored) = (args.slo, args.max_streams, !args.no_restore);
        return begin(FrontierRequest { order, objectives, streams_max, restored });
    };
    if !asks_for_nothing_else(&order) || !args.slo.is_empty() {
        let error = "--resume continues a frontier as it is: it can only be combined with --budget, --repeats, --out, --format and \
                     --quiet";
        return Err(CommandError::new(Code::Start, error).hint("leave the others out, or start another frontier"));
    }
    resume(&order, &name)
}

fn admit_arguments(args: &FrontierArgs) -> Result<()> {
    let refuse = |error: &str, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    let run = &args.run;
    let of_workload = |name: &str| run.given().workload.options.contains_key(name);
    match () {
        () if run.given().drive.rate.is_some() => refuse("a frontier has several rates", "leave --rate out"),
        () if of_workload("streams") => refuse("a frontier has several numbers of streams", "give --max-streams"),
        () if of_workload("alone") => refuse("a frontier has each side alone", "leave --alone out"),
        () if run.given().drive.transactions.is_some() => {
            refuse("points of a frontier have a length", "give -T instead of -t")
        }
        () if run.again.is_some() || run.given().json.is_some() => {
            refuse("a frontier has many runs: --again and --json are for one", "give --format json for the frontier")
        }
        () if run.given().target.tcp => {
            refuse("the private server of a frontier is reached by its socket: --tcp is not for it", "leave it out")
        }
        () => Ok(()),
    }
}
