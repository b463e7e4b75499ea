//! A run as rooms: `prepared` → `loaded` → `measured` → `judged` → the record.
//!
//! Each room is a module with one function, which consumes the value of the room before and borrows one `RunContext`. Whatever
//! ends a run, dropping these values undoes what they did: the copy of a database is dropped, settings are restored, and a
//! server that a hook has made is removed.

pub(crate) mod context;
pub(crate) mod judged;
pub(crate) mod loaded;
pub(crate) mod measured;
pub(crate) mod prepared;
pub(crate) mod queries;

use std::sync::atomic::Ordering;

use pgdyno_engine::{FileLimit, raise_file_limit};
use pgdyno_plan::{Facts, Order};
use pgdyno_results::Status;

use self::context::{BothSinks, RunContext};
use self::loaded::load;
use self::measured::measure;
use self::prepared::prepare;
use crate::agents::Team;
use crate::drive::watch;
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::interrupt::Interrupt;
use crate::plan::resolve::{self, PlanDraft, RunRequest};
use crate::record::Recording;
use crate::record::sink::RecordSink;
use crate::record::verdict::End;
use crate::target::{Named, Target};

/// A run that has ended.
pub struct FinishedRun {
    /// The record, which is complete, and its directory. `None` if the run ended before there was anything to record.
    pub recording: Option<Recording>,
    /// Why it ended before the clients started, or what failed when settings were restored.
    pub failure: Option<CommandError>,
    /// Its exit code.
    pub code: Code,
    /// What could not be written of the record.
    pub unwritten: Vec<String>,
}

/// Executes an order, from provisioning the server to the last check. The record is in a new run directory.
///
/// A private server needs a supervisor, which is this same program: see [`supervise`](crate::supervise).
///
/// # Errors
/// When the order is impossible, which is known before any server is touched.
pub fn run(order: Order, interrupt: &Interrupt, events: &dyn EventSink) -> Result<FinishedRun> {
    run_request(&RunRequest::read(order)?, interrupt, events)
}

/// Does the same for a request that has been read.
///
/// # Errors
/// As [`run`].
pub fn run_request(request: &RunRequest, interrupt: &Interrupt, events: &dyn EventSink) -> Result<FinishedRun> {
    let order = &request.order;
    let PlanDraft { target, mut facts, mut resolved } = request.draft()?;
    pgdyno_results::admit(order.results()).or_fail(Code::Start)?;
    resolve::admit_json(order)?;
    if order.meeting.agents.is_some() {
        target.admit_agents()?;
    }
    watch::profile::admit(&resolved.plan, &target)?;
    let needs = (&target, &*resolved.workload.drive);
    let team = Team::gather(&order.meeting, needs, &resolved.plan.workload, interrupt, events)?;
    match &team {
        Some(team) => {
            facts.driver_cpus = team.cpus();
            resolved = request.resolve(&facts)?;
        }
        None => admit_files(resolved.plan.links(), events)?,
    }
    let named = target.named.clone();
    let record = RecordSink::new(request, &resolved, named.as_ref().map(Named::record));
    let context = RunContext {
        request,
        draft: &resolved,
        named: named.as_ref(),
        team: team.as_ref(),
        interrupt,
        view: events,
        record: &record,
        events: &BothSinks(events, &record),
    };
    let outcome = interrupt.attribute_to_signal(pass_rooms(&context, target, facts));
    Ok(match record.into_recording() {
        Some(recording) => conclude(outcome, recording, interrupt, order),
        None => {
            let code = outcome.as_ref().map_or_else(CommandError::code, |end| end.code);
            FinishedRun { recording: None, failure: outcome.err(), code, unwritten: Vec::new() }
        }
    })
}

/// Passes the rooms of a run. The record starts with the first change to a server, or when the server is up; a failure before
/// that leaves none.
///
/// # Errors
/// When the run could not start, or was interrupted by a failure.
fn pass_rooms(context: &RunContext<'_>, target: Target, facts: Facts) -> Result<End> {
    let prepared = prepare(context, target, facts)?;
    let loaded = load(context, prepared)?;
    let mut measured = measure(context, loaded)?;
    let end = judged::record(context, &mut measured);
    let restored = measured.close().restore();
    Ok(match restored {
        // The figures stay valid.
        Err(failure) if end.code.is_complete() => End { reason: Some(failure.text()), code: failure.code(), ..end },
        _ => end,
    })
}

/// Writes how a run ended.
fn conclude(outcome: Result<End>, mut recording: Recording, interrupt: &Interrupt, order: &Order) -> FinishedRun {
    let (status, reason, code) = match &outcome {
        Ok(end) => (end.status, end.reason.clone(), end.code),
        Err(failure) if failure.code() == Code::Interrupted => {
            (Status::Interrupted, Some(failure.text()), Code::Interrupted)
        }
        Err(failure) => (Status::Failed, Some(failure.text()), failure.code()),
    };
    // A server that ends with the process that started the run says nothing about the run.
    let orphaned = interrupt.orphaned.load(Ordering::Acquire) && status == Status::Failed;
    let (status, code) = if orphaned { (Status::Interrupted, Code::Interrupted) } else { (status, code) };
    let unwritten = recording.end(status, reason, code, order.json.as_deref());
    // The measurement stays valid in the files that could be written; the exit code reports that others are missing.
    let code = if unwritten.errors.is_empty() || !code.is_complete() { code } else { Code::Run };
    let unwritten = unwritten.errors.into_iter().chain(unwritten.unlisted).collect();
    FinishedRun { recording: Some(recording), failure: outcome.err(), code, unwritten }
}

/// Raises the limit of open files, or reports that it cannot be raised.
fn admit_files(clients: u32, events: &dyn EventSink) -> Result<()> {
    match raise_file_limit(clients) {
        FileLimit::Enough => Ok(()),
        FileLimit::Raised { from, to } => {
            events.note(&format!("raised the limit of open files from {from} to {to}"));
            Ok(())
        }
        FileLimit::TooLow { needed, hard } => {
            let error = format!("{clients} clients need {needed} open files, but the hard limit is {hard}");
            Err(CommandError::new(Code::Start, error)
                .hint("raise it (ulimit -Hn, limits.conf, LimitNOFILE=), or lower --clients"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::events::RunEvent;

    /// Keeps events in the form that another machine would receive.
    #[derive(Default)]
    struct Kept(Mutex<Vec<serde_json::Value>>);

    impl EventSink for Kept {
        fn event(&self, event: &RunEvent<'_>) {
            let event = serde_json::to_value(event).expect("an event is plain data");
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        }
    }

    #[test]
    fn a_run_is_made_again_from_its_stored_plan_alone() {
        let results = tempfile::tempdir().unwrap();
        let mut order = Order { out: Some(results.path().to_owned()), ..Order::of("noop") };
        (order.drive.clients, order.drive.transactions) = (Some(2), Some(50));
        let first = run(order, &Interrupt::default(), &crate::Silent).unwrap().recording.unwrap();
        let directory = first.path();
        let stored = pgdyno_results::read_record(&directory.join(pgdyno_results::RECORD)).unwrap();
        let mut request = RunRequest::of_plan(&stored.plan, directory).unwrap();
        request.order.out = Some(results.path().to_owned());
        let second = run_request(&request, &Interrupt::default(), &crate::Silent).unwrap().recording.unwrap();
        assert_ne!(first.record.id, second.record.id);
        assert_eq!((second.record.plan, second.record.plan_hash), (stored.plan, stored.plan_hash));
        assert_eq!(second.record.summary.unwrap().committed, 100);
    }

    #[test]
    fn a_run_shows_what_happens_as_plain_data() {
        let results = tempfile::tempdir().unwrap();
        let mut order = Order { out: Some(results.path().to_owned()), ..Order::of("noop") };
        (order.drive.clients, order.drive.transactions, order.drive.random_seed) = (Some(3), Some(1000), Some(1));
        let kept = Kept::default();
        let ran = run(order, &Interrupt::default(), &kept).unwrap();
        assert_eq!((ran.code, ran.unwritten.len()), (Code::Success, 0));
        assert_eq!(ran.recording.unwrap().record.summary.unwrap().committed, 3000);

        let events = kept.0.into_inner().unwrap();
        let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
        assert_eq!(of("drive-begins")[0]["plan"]["clients"], 3);
        let committed: u64 = of("interval").iter().map(|event| event["interval"]["committed"].as_u64().unwrap()).sum();
        assert_eq!(committed, 3000, "{events:#?}");
        assert_eq!(events.last().unwrap()["event"], "ended");
    }
}
