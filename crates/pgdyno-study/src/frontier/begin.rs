//! The beginning of a frontier, and of one that goes on.

use jiff::Timestamp;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_plan::Order;
use pgdyno_results::{FrontierRecord, Objective, StudyKind};
use pgdyno_untrusted::Lock;
use pgdyno_workload::GroupWork;

use super::decider::points;
use crate::objectives::of_workload;
use crate::stored::{name, without_passwords};
use crate::{lock, steady};

/// What the user asks for.
pub struct FrontierRequest {
    /// What each run does, without its rate and streams.
    pub order: Order,
    /// Objectives of the transactions.
    pub objectives: Vec<Objective>,
    /// The largest number of streams.
    pub streams_max: u32,
    /// Whether each run has a fresh copy of the same data.
    pub restored: bool,
}

/// A frontier that is about to begin, or to go on.
pub struct FrontierStart {
    /// Its record.
    pub record: FrontierRecord,
    /// What each run does, with its passwords.
    pub order: Order,
    /// Objectives of the transactions.
    pub objectives: Vec<Objective>,
    /// The lock of a frontier that goes on.
    pub lock: Option<Lock>,
}

/// Returns a new frontier. Writes nothing.
///
/// # Errors
/// When the workload has no queries beside transactions, or an objective does not fit it.
pub fn begin(wanted: FrontierRequest) -> Result<FrontierStart> {
    let FrontierRequest { order, objectives, streams_max, restored } = wanted;
    let request = RunRequest::read(order.clone())?;
    let remedy = "measure the fault alone: pgdyno run with --fault, with -R and --streams of a point of the frontier";
    steady::admit("a frontier", &request.order, remedy)?;
    let draft = request.draft()?;
    let stages = &draft.resolved.workload.drive.stages;
    if !stages.iter().flat_map(|stage| &stage.groups).any(|group| group.work == GroupWork::Queries) {
        let error = format!("{} has no queries beside transactions, so there is no frontier", request.source.name());
        return Err(CommandError::new(Code::Start, error).hint("pgdyno frontier ch-benchmark"));
    }
    let started = Timestamp::now();
    let id = name(started, &format!("frontier-{}", request.source.name()));
    let stored = without_passwords(&order)?;
    let mut record = FrontierRecord::begin(id, started, request.source.name(), draft.target.name().into(), stored);
    let objectives = of_workload(objectives, &draft.resolved.workload.drive.txns())?;
    record.objectives = objectives.iter().map(ToString::to_string).collect();
    (record.restored, record.streams_max, record.points) = (restored, streams_max, points(streams_max));
    Ok(FrontierStart { record, order, objectives, lock: None })
}

/// Returns the frontier of this name, with its lock. `order` has the results directory.
///
/// # Errors
/// When there is none, or another process measures it.
pub fn resume(order: &Order, name: &str) -> Result<FrontierStart> {
    let (record, lock) = lock::take_up::<FrontierRecord>(order.results(), StudyKind::Frontier, name)?;
    let order = Order { out: order.out.clone(), ..record.order.clone() };
    let objectives = record.objectives.iter().map(|text| Objective::parse(text));
    let objectives = objectives.collect::<std::result::Result<_, _>>().or_fail(Code::Start)?;
    Ok(FrontierStart { record, order, objectives, lock: Some(lock) })
}
