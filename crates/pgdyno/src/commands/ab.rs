//! `pgdyno ab`: which of two is faster.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_life::target::Target;
use pgdyno_results::{Resumable as _, StudyKind};
use pgdyno_study::ab::{AbRun, ExperimentRequest, ExperimentStart, Side, begin, resume};
use pgdyno_study::page::show_files;
use pgdyno_study::private_server::announce_given;

use super::confirm::{confirm, confirm_resumed};
use super::study::{self, Session, asks_for_nothing_else};
use crate::cli::AbArgs;

pub(crate) fn run(args: AbArgs) -> Result<Code> {
    let (quiet, yes) = (args.run.quiet, args.run.consent.yes);
    let (format, dsn) = (args.format.clone(), args.run.store.dsn());
    let is_resumed = args.resume.is_some();
    let ExperimentStart { record, orders: [a, b], lock } = begun(args)?;
    if is_resumed {
        confirm_resumed(&[&a, &b], yes)?;
    }
    if let Some(side) = [&a, &b].into_iter().find(|side| side.target.target.is_none()) {
        confirm(&side.target, "ab", yes)?;
    }
    let session = Session::begin(StudyKind::Experiment, quiet, dsn)?;
    let (interrupt, progress) = (&session.interrupt, &session.progress);
    let results = a.results().to_owned();
    let _lock = session.lock(&results, &record.id, lock)?;
    let is_one_target = a.target == b.target;
    for order in [&a].into_iter().chain((!is_one_target).then_some(&b)) {
        announce_given(Target::resolve(&order.target)?, &order.target, progress, interrupt)?;
    }
    let bring_up = |name, order| interrupt.attribute_to_signal(Side::bring_up(name, order, progress, interrupt));
    let sides = [bring_up("A", a)?, bring_up("B", b)?];
    let mut experiment = AbRun::new(record, sides, session.runner(&results), progress);
    let ended = experiment.carry_out();
    let record = experiment.record();
    if !record.units.is_empty() {
        study::print(record, &format, pgdyno_report::ab::format(&format))?;
    }
    show_files(record, &results, pgdyno_report::ab::page, progress);
    session.push(&record.path(&results), &results);
    ended
}

/// Returns the experiment that the arguments begin, or go on with.
fn begun(args: AbArgs) -> Result<ExperimentStart> {
    let Some(name) = args.resume.clone() else {
        let any_budget = args.run.consent.yes;
        admit_arguments(&args)?;
        return begin(&ExperimentRequest {
            order: args.run.order(),
            differs: [args.a, args.b],
            slice_s: args.slice,
            budget_s: args.budget,
            margin: args.margin,
            confidence: args.confidence,
            any_budget,
        });
    };
    let is_as_it_is = args.a.is_empty() && args.b.is_empty() && args.run.again.is_none();
    let (order, budget_s) = (args.run.order(), args.budget);
    if !is_as_it_is || !asks_for_nothing_else(&order) {
        let error = "--resume continues an experiment as it is: it can only be combined with --budget, --out, --format and --quiet";
        return Err(CommandError::new(Code::Start, error).hint("leave the others out, or start another experiment"));
    }
    resume(&order, &name, budget_s)
}

fn admit_arguments(args: &AbArgs) -> Result<()> {
    let refuse = |error: &str, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    let drive = &args.run.given().drive;
    match () {
        () if args.a.is_empty() && args.b.is_empty() => {
            refuse("A and B are the same", "say in what they differ: --a shared_buffers=1GB --b shared_buffers=8GB")
        }
        () if drive.time.is_some() || drive.transactions.is_some() || drive.ramp.is_some() => {
            refuse("an experiment has slices, and takes no -T, -t or --ramp", "give --slice and --budget")
        }
        () if drive.rate.is_some() => refuse(
            "with a rate both sides do as many transactions",
            "leave --rate out: the clients go as fast as they can",
        ),
        () if args.run.given().target.tcp => refuse(
            "the private servers of an experiment are reached by their sockets: --tcp is not for them",
            "leave it out",
        ),
        () if args.run.again.is_some() || args.run.given().json.is_some() => refuse(
            "an experiment has many runs: --again and --json are for one",
            "give --format json for the experiment",
        ),
        () if args.slice.is_some_and(|slice_s| slice_s < 0.5) => {
            refuse("a slice of less than half a second is all beginning", "give --slice 2s")
        }
        () => Ok(()),
    }
}
