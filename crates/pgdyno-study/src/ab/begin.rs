//! The beginning of an experiment, and of one that goes on.

use jiff::Timestamp;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_life::plan::resolve::{Resolved, RunRequest};
use pgdyno_life::target::Target;
use pgdyno_plan::Order;
use pgdyno_results::{AbRecord, AbSide, AbVerdict, StudyKind};
use pgdyno_untrusted::Lock;
use pgdyno_workload::{GroupWork, Workload};

use super::difference::differ;
use super::time;
use crate::stored::{name, storable, without_passwords};
use crate::{lock, steady};

/// What the user asks for.
pub struct ExperimentRequest {
    /// What both sides run.
    pub order: Order,
    /// In what A and B differ from it.
    pub differs: [Vec<String>; 2],
    /// Length of a slice in seconds; by default it depends on whether the servers are restarted.
    pub slice_s: Option<f64>,
    /// The time that the experiment may take, in seconds.
    pub budget_s: f64,
    /// A change of this share is a difference.
    pub margin: f64,
    /// The chance that the interval holds the truth at every look together.
    pub confidence: f64,
    /// Whether a budget that ends before the first verdict is wanted.
    pub any_budget: bool,
}

/// An experiment that is about to begin, or to go on.
pub struct ExperimentStart {
    /// Its record.
    pub record: AbRecord,
    /// What each side runs, with its passwords.
    pub orders: [Order; 2],
    /// The lock of an experiment that goes on.
    pub lock: Option<Lock>,
}

/// Returns a new experiment. Writes nothing.
///
/// # Errors
/// When a difference is none, or the workload does not have one figure.
pub fn begin(wanted: &ExperimentRequest) -> Result<ExperimentStart> {
    let side = |differs: &[String]| -> Result<Order> {
        let mut order = wanted.order.clone();
        differs.iter().try_for_each(|difference| differ(&mut order, difference))?;
        Ok(order)
    };
    let [of_a, of_b] = &wanted.differs;
    let orders = [side(of_a)?, side(of_b)?];
    let planned = [planned(&orders[0])?, planned(&orders[1])?];
    planned.iter().try_for_each(|planned| admit_one_side(&planned.workload))?;
    let targets = [Target::resolve(&orders[0].target)?, Target::resolve(&orders[1].target)?];
    let restarts = targets.iter().all(Target::is_private);
    let slice_s = wanted.slice_s.unwrap_or_else(|| time::slice_s(restarts));
    if !wanted.any_budget && !planned[0].plan.drive.ends_with_work() {
        time::admit_budget(wanted.budget_s, slice_s, restarts)?;
    }
    let started = Timestamp::now();
    let workload = orders[0].workload.names.first().cloned().unwrap_or_default();
    let id = name(started, &format!("ab-{workload}"));
    let [a, b] = [recorded(of_a, &orders[0])?, recorded(of_b, &orders[1])?];
    let mut record = AbRecord::begin(id, started, workload, a, b);
    (record.slice_s, record.budget_s) = (slice_s, wanted.budget_s);
    (record.margin, record.confidence) = (wanted.margin, wanted.confidence);
    record.sampled = orders.iter().all(|order| !order.watch.no_samples);
    Ok(ExperimentStart { record, orders, lock: None })
}

/// Returns a side as its record stores it.
fn recorded(differs: &[String], order: &Order) -> Result<AbSide> {
    let server = |difference: &String| {
        let (name, server) = difference.split_once('=').filter(|(name, _)| matches!(*name, "target" | "reader"))?;
        Some((name.to_owned(), server.to_owned()))
    };
    let shown = |difference: &String| match server(difference) {
        Some((name, server)) => storable(&server.as_str().into()).map(|server| format!("{name}={server}")),
        None if difference.contains("://") => storable(&difference.as_str().into()).map(Into::into),
        None => Ok(difference.clone()),
    };
    let target = Some(Target::resolve(&order.target)?.name().into());
    let differs = differs.iter().map(shown).collect::<Result<_>>()?;
    Ok(AbSide { differs, target, order: without_passwords(order)?, plan_hash: None })
}

/// Returns the experiment of this name, with its lock. It may take `budget_s` more. `order` has the results directory.
///
/// # Errors
/// When there is none, or it is decided, or another process measures it.
pub fn resume(order: &Order, name: &str, budget_s: f64) -> Result<ExperimentStart> {
    let (mut record, lock) = lock::take_up::<AbRecord>(order.results(), StudyKind::Experiment, name)?;
    if record.verdict != AbVerdict::Undecided {
        let error = format!("experiment {} is decided: {}", record.id, record.verdict.name());
        return Err(
            CommandError::new(Code::Start, error).hint("start another experiment, perhaps with a smaller --margin")
        );
    }
    record.budget_s = record.spent_s + budget_s;
    let orders = [&record.a, &record.b].map(|side| Order { out: order.out.clone(), ..side.order.clone() });
    orders.iter().try_for_each(|order| planned(order).map(drop))?;
    Ok(ExperimentStart { record, orders, lock: Some(lock) })
}

/// Returns what a side does, as far as that is known without its server. Refuses a profile that cannot be taken.
fn planned(order: &Order) -> Result<Resolved> {
    let request = RunRequest::read(order.clone())?;
    let remedy = "compare outages with a suite that has a [[run]] for each side, several times, and pgdyno compare";
    steady::admit("an experiment", &request.order, remedy)?;
    let draft = request.draft()?;
    draft.admit_profile()?;
    Ok(draft.resolved)
}

/// Refuses a workload whose runs have two sides: an experiment decides by one figure.
fn admit_one_side(workload: &Workload) -> Result<()> {
    let stages = &workload.drive.stages;
    let main = stages.first().into_iter().flat_map(|stage| &stage.groups);
    let works: Vec<GroupWork> = main.map(|group| group.work).collect();
    if !(works.contains(&GroupWork::Transactions) && works.contains(&GroupWork::Queries)) {
        return Ok(());
    }
    let error =
        format!("an experiment decides by one figure, and {} has two: transactions and queries", workload.meta.id);
    Err(CommandError::new(Code::Start, error).hint(
        "measure one side, with --streams 0 or -D transactions=false; or compare several runs of each, with pgdyno compare",
    ))
}
