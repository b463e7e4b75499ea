//! `pgdyno ab`: which of two is faster.

use jiff::Timestamp;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::plan::resolve::Request;
use pgdyno_life::target::Target;
use pgdyno_live::Progress;
use pgdyno_net::without_secrets;
use pgdyno_plan::{Order, TargetName};
use pgdyno_results::{AbRecord, AbSide, AbVerdict, Resumable as _, StudyKind, admit, run_id};
use pgdyno_untrusted::Lock;

use pgdyno_workload::Work;

use crate::ab::{AbRun, Side, differ};
use crate::cli::AbArgs;
use crate::held::announce_given;
use crate::interrupt;
use crate::resumable::{rendered, renderer, show_files};
use crate::study_lock;

use super::confirm::{confirm, confirm_resumed};
use super::store;

pub(crate) fn run(args: AbArgs) -> Result<Code> {
    let (quiet, yes) = (args.run.quiet, args.run.consent.yes);
    let (format, dsn) = (args.format.clone(), args.run.store.dsn());
    let is_resumed = args.resume.is_some();
    let Begin { mut record, orders: [a, b], lock } = match args.resume.clone() {
        Some(name) => resumed(args, &name)?,
        None => new(args)?,
    };
    if is_resumed {
        confirm_resumed(&[&a, &b], yes)?;
    }
    if let Some(side) = [&a, &b].into_iter().find(|side| side.target.target.is_none()) {
        confirm(&side.target, "ab", yes)?;
    }
    let interrupt = interrupt::listen()?;
    let progress = Progress::new(quiet);
    let store = dsn.map(|dsn| store::admit(&dsn, "experiment", &progress)).transpose()?;
    let results = a.results().to_owned();
    admit(&results).or_fail(Code::Start)?;
    let _lock = match lock {
        Some(lock) => lock,
        None => study_lock::take(&results, StudyKind::Experiment, &record.id)?,
    };
    let is_one_target = a.target == b.target;
    for order in [&a].into_iter().chain((!is_one_target).then_some(&b)) {
        announce_given(Target::resolve(&order.target)?, &order.target, &progress, &interrupt)?;
    }
    let bring_up = |name, order| interrupt.blamed(Side::bring_up(name, order, &progress, &interrupt));
    let sides = [bring_up("A", a)?, bring_up("B", b)?];
    record.restarts = sides.iter().all(Side::is_own);
    let mut experiment = AbRun::new(record, sides, &results, &interrupt, &progress);
    let ended = experiment.go();
    let AbRun { record, .. } = &experiment;
    if !record.units.is_empty() {
        super::print_rendered(&format, &rendered(record, renderer(&format, pgdyno_report::ab::format(&format))?)?)?;
    }
    show_files(record, &results, pgdyno_report::ab::page, &progress);
    if let Some(store) = &store {
        store::push_study(store, StudyKind::Experiment, &record.path(&results), &results, &progress);
    }
    ended
}

/// An experiment that is about to begin, or to go on.
struct Begin {
    record: AbRecord,
    /// What each side runs, with its passwords.
    orders: [Order; 2],
    /// The lock of an experiment that goes on.
    lock: Option<Lock>,
}

fn new(args: AbArgs) -> Result<Begin> {
    admit_arguments(&args)?;
    let order = args.run.order();
    let side = |differs: &[String]| -> Result<Order> {
        let mut order = order.clone();
        differs.iter().try_for_each(|difference| differ(&mut order, difference))?;
        Ok(order)
    };
    let orders = [side(&args.a)?, side(&args.b)?];
    orders.iter().try_for_each(admit_one_side)?;
    let recorded = |differs: &[String], order: &Order| -> Result<AbSide> {
        let order = without_passwords(order)?;
        let shown = |difference: &String| match difference.strip_prefix("target=") {
            Some(target) => storable(&target.into()).map(|target| format!("target={target}")),
            None if difference.contains("://") => storable(&difference.as_str().into()).map(Into::into),
            None => Ok(difference.clone()),
        };
        let target = Some(Target::resolve(&order.target)?.name().into());
        Ok(AbSide { differs: differs.iter().map(shown).collect::<Result<_>>()?, target, order, plan_hash: None })
    };
    let started = Timestamp::now();
    let workload = orders[0].workload.names.first().cloned().unwrap_or_default();
    let salt = started.as_nanosecond() as u64 ^ u64::from(std::process::id());
    let id = run_id(started, &format!("ab-{workload}"), salt);
    let [a, b] = [recorded(&args.a, &orders[0])?, recorded(&args.b, &orders[1])?];
    let mut record = AbRecord::begin(id, started, workload, a, b);
    (record.slice_s, record.budget_s) = (args.slice, args.budget);
    (record.margin, record.confidence) = (args.margin, args.confidence);
    Ok(Begin { record, orders, lock: None })
}

/// Returns an order as a file may hold it: its connection strings have no passwords.
pub(super) fn without_passwords(order: &Order) -> Result<Order> {
    let mut order = order.clone();
    order.target.target = order.target.target.map(|target| storable(&target)).transpose()?;
    for dsn in [&mut order.analytics.target, &mut order.meeting.meet] {
        let stored = dsn.as_deref().map(|dsn| storable(&dsn.into())).transpose()?;
        *dsn = stored.map(Into::into);
    }
    Ok(order)
}

/// Returns a target as a file may hold it: a connection string loses its password.
fn storable(target: &TargetName) -> Result<TargetName> {
    match target.kind().may_hold_password() {
        true => Ok(without_secrets(target.as_str()).or_fail(Code::Start)?.into()),
        false => Ok(target.clone()),
    }
}

fn resumed(args: AbArgs, name: &str) -> Result<Begin> {
    let refuse = |error: String, hint: &str| Err(Failure::new(Code::Start, error).hint(hint));
    let budget_s = args.budget;
    let is_as_it_is = args.a.is_empty() && args.b.is_empty() && args.run.again.is_none();
    let order = args.run.order();
    let mut counts = Order { out: order.out.clone(), ..Order::default() };
    counts.target.config.clone_from(&order.target.config);
    if !is_as_it_is || order != counts {
        let error =
            "--resume goes on with an experiment as it is: beside it only --budget, --out, --format and --quiet count";
        return refuse(error.to_owned(), "leave the others out, or start another experiment");
    }
    let path = AbRecord::find(order.results(), name).or_fail(Code::Start)?;
    let id = AbRecord::read(&path).or_fail(Code::Start)?.id;
    let lock = study_lock::take(order.results(), StudyKind::Experiment, &id)?;
    // The process that held the lock before may have changed it.
    let mut record = AbRecord::read(&path).or_fail(Code::Start)?;
    if record.verdict != AbVerdict::CannotTell {
        let error = format!("experiment {} is decided: {}", record.id, record.verdict.name());
        return refuse(error, "start another experiment, perhaps with a smaller --margin");
    }
    record.budget_s = record.spent_s + budget_s;
    let orders = [&record.a, &record.b].map(|side| Order { out: order.out.clone(), ..side.order.clone() });
    Ok(Begin { record, orders, lock: Some(lock) })
}

/// Refuses a workload whose runs have two sides: an experiment decides by one figure.
fn admit_one_side(order: &Order) -> Result<()> {
    let request = Request::read(order.clone())?;
    let workload = request.draft()?.resolved.workload;
    let stages = workload.drive.stages();
    let main = stages.first().into_iter().flat_map(|stage| &stage.groups);
    let works: Vec<Work> = main.map(|group| group.work).collect();
    if !(works.contains(&Work::Transactions) && works.contains(&Work::Queries)) {
        return Ok(());
    }
    let error =
        format!("an experiment decides by one figure, and {} has two: transactions and queries", workload.meta.id);
    Err(Failure::new(Code::Start, error).hint(
        "measure one side, with --streams 0 or -D transactions=false; or compare several runs of each, with pgdyno compare",
    ))
}

fn admit_arguments(args: &AbArgs) -> Result<()> {
    let refuse = |error: &str, hint: &str| Err(Failure::new(Code::Start, error).hint(hint));
    let drive = &args.run.drive;
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
        () if args.run.target.tcp => refuse(
            "the private servers of an experiment are reached by their sockets: --tcp is not for them",
            "leave it out",
        ),
        () if args.run.again.is_some() || args.run.json.is_some() => refuse(
            "an experiment has many runs: --again and --json are for one",
            "give --format json for the experiment",
        ),
        () if args.slice < 0.5 => refuse("a slice of less than half a second is all beginning", "give --slice 2s"),
        () => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_connection_string_of_an_order_takes_its_password_to_a_file() {
        let dsn = |name: &str| Some(format!("host={name} password=geheim"));
        let mut order = Order::of("noop");
        (order.target.target, order.analytics.target, order.meeting.meet) =
            (dsn("a").map(Into::into), dsn("b"), dsn("c"));
        let stored = without_passwords(&order).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let text = serde_json::to_string(&stored).unwrap();
        assert!(["host=a", "host=b", "host=c"].iter().all(|host| text.contains(host)), "{text}");
        assert!(!text.contains("geheim"), "{text}");
    }
}
