//! The drive: runs the engine or has agents do it, and samples the server's counters at the ends of the window.
//!
//! [`Driver`] is this process while it runs clients; its `listener` receives the engine's events.

pub(crate) mod cpus;
mod endpoints;
pub(crate) mod executions;
mod faults;
mod freshness;
mod journal;
mod listener;
mod notices;
pub(crate) mod pinning;
pub(crate) mod query_plans;
mod samples;
mod server;
pub(crate) mod spec;
mod staleness;
pub(crate) mod team;
pub(crate) mod watch;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::Scope;
use std::time::{Duration, Instant};

use pgdyno_engine::{
    Audience, Backend, ConnectFailed, EngineEvent, Observer, RunEnd, RunError, RunOutcome, RunSpec, run,
};
use pgdyno_net::ConnectOptions;
use pgdyno_plan::Plan;
use pgdyno_results::{DriverRecord, EndpointRecord, Execution, StalenessRecord};
use pgdyno_server::{DiskReads, IDENTITY, ServerWork};
use pgdyno_workload::{Capabilities, Pooling, Workload};

pub(crate) use server::DrivenServer;

use crate::agents::drive::TeamDrive;
use crate::drive::executions::{Both, Executions, Kept};
use crate::drive::faults::{FaultSubject, Faults};
use crate::drive::journal::Journal;
use crate::drive::listener::{Listened, Listener};
use crate::drive::notices::Notices;
use crate::drive::samples::Samples;
use crate::drive::spec::spec;
use crate::drive::staleness::Staleness;
use crate::drive::team::TeamOfRun;
use crate::drive::watch::{Subject, Watch, Watched};
use crate::events;
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::ledger::LedgerWriter;
use crate::prepare::cycle::environment;
use crate::run::context::RunContext;

/// The results of a drive.
pub(crate) struct Driven {
    pub(crate) outcome: RunOutcome,
    /// The drivers, if there were several.
    pub(crate) drivers: Vec<DriverRecord>,
    /// The server's counts in the measured window. Sessions report up to a second late.
    pub(crate) window: Option<ServerWork>,
    /// The server's counts from before the first client connected until after the last one left: exact, except for
    /// pgdyno's own few statements.
    pub(crate) whole: Option<ServerWork>,
    /// Bytes that the server's processes read from disks in the measured window, if known.
    pub(crate) disk_reads: Option<DiskReads>,
    /// What the watchers recorded, if there were any.
    pub(crate) watched: Option<Watched>,
    /// Each execution of large queries, if there were any.
    pub(crate) kept: Option<Kept>,
    /// What was found about each reader.
    pub(crate) readers: Vec<ReaderDriven>,
    /// The end of the ledger, if the run has one.
    pub(crate) ledger: Option<LedgerEnd>,
}

/// The end of the ledger of a run.
pub(crate) struct LedgerEnd {
    /// The end of the measured window, in microseconds since 1970.
    pub(crate) until_us: u64,
    /// Why commits are missing in it, if they are.
    pub(crate) unwritten: Option<String>,
}

/// This process while it runs clients, or has agents run them.
pub(crate) struct Driver<'a> {
    pub(crate) context: &'a RunContext<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) workload: &'a Workload,
    pub(crate) team: Option<TeamOfRun<'a>>,
    pub(crate) server: DrivenServer<'a>,
}

impl<'a> Driver<'a> {
    /// Drives the server.
    ///
    /// # Errors
    /// When the run could not start.
    pub(crate) fn drive(mut self) -> Result<Driven> {
        let context = self.context;
        let sampler = self.server.sampler.take();
        let faults = self.faults();
        let executions = self.executions();
        let subject = self.subject(executions.as_ref());
        self.workload.drive.prepare();
        let pin = self.pin()?;
        let samples = Samples::new(sampler, self.server.options);
        let directory = context.record.path();
        let journal = self.plan.log.then(|| Journal::open(&directory, self.plan)).transpose()?;
        let ledger = self.ledger(&directory)?;
        let executions = RefCell::new(executions);
        let driver = &self;
        let (ran, Listened { samples, notices, probes, watched, readers }) = std::thread::scope(|scope| {
            let watch = subject.as_ref().map(|subject| Watch::begin(scope, subject));
            let mut listener = Listener {
                context,
                plan: driver.plan,
                identity: driver.server.identity.as_ref(),
                executions: &executions,
                watch,
                faults: faults.map(|faults| Faults::begin(scope, faults)),
                staleness: driver.staleness(scope),
                of_readers: Vec::new(),
                samples,
                notices: Notices::default(),
                probes: 0,
                failed_attempts: BTreeMap::new(),
            };
            let logs = Logs { journal: journal.as_ref(), ledger: ledger.as_ref() };
            let ran = match &driver.team {
                Some(team) => driver.run_by_team(team, &mut listener, &executions),
                None => driver.run_here(pin, &mut listener, &executions, &logs),
            };
            (ran, listener.end())
        });
        context.events.ended();
        let notices = notices.end(context.view);
        context.record.edit(|recording| recording.record.notices = notices);
        let (kept, written) = executions.into_inner().map(|executions| executions.end(&directory)).unzip();
        let window_ns = ran.as_ref().map_or(0, |(outcome, _)| outcome.measured.end_ns);
        let ledger =
            ledger.map(|ledger| LedgerEnd { until_us: ledger.at_us(window_ns), unwritten: ledger.close().err() });
        let unwritten = ledger.iter().filter_map(|ledger| ledger.unwritten.clone());
        let closed = [written, journal.map(Journal::close)].into_iter().flatten();
        for error in closed.filter_map(std::result::Result::err).chain(unwritten) {
            context.events.warn(&error);
        }
        let (mut outcome, drivers) = ran?;
        self.settle_end(&mut outcome);
        let own = watched.as_ref().map_or(0, |watched| watched.transactions) + samples.looks() + probes;
        let counted = samples.end();
        // Sessions behind a pooler outlive the clients: statistics that they have not reported yet are missing, and what
        // the pooler does between two clients is included.
        let whole = counted.whole.filter(|_| self.server.caps.pooling.is_none()).map(|work| work.without(own));
        let (window, disk_reads) = (counted.window, counted.disk_reads);
        Ok(Driven { outcome, drivers, window, whole, disk_reads, watched, kept, ledger, readers })
    }

    /// Takes a server that is down for an interruption, if the user ended the run during a fault.
    fn settle_end(&self, outcome: &mut RunOutcome) {
        let is_faulty = self.plan.fault.is_some() && matches!(outcome.ended, RunEnd::ServerLost(_));
        if is_faulty && self.context.interrupt.stop.is_requested() {
            outcome.ended = RunEnd::Interrupted;
        }
    }

    /// Returns the record of executions, if the workload has large queries.
    fn executions(&self) -> Option<Executions> {
        let drive = &self.workload.drive;
        let txns = drive.txns().iter().map(|txn| txn.name.to_owned()).collect();
        Executions::new(&drive.stages, self.plan.drive.clients, txns, drive.growth)
    }

    /// Begins the ledger of the commits, if the plan has one.
    fn ledger(&self, directory: &Path) -> Result<Option<LedgerWriter>> {
        let Some(ledger) = self.workload.drive.ledger.as_ref().filter(|_| self.plan.drive.ledger.is_some()) else {
            return Ok(None);
        };
        let txns = self.workload.drive.txns();
        let marked = txns.iter().enumerate().filter(|(_, txn)| ledger.txns.contains(&txn.name)).map(|(nth, _)| nth);
        LedgerWriter::open(directory, marked.collect()).map(Some)
    }

    /// Returns what is watched, if the server is.
    fn subject(&self, executions: Option<&Executions>) -> Option<Subject<'_>> {
        let DrivenServer { caps, options, is_watched, is_private, machines, identity, .. } = &self.server;
        let options = options.filter(|_| *is_watched && !self.plan.watch.off)?;
        Some(Subject {
            options,
            plan: &self.plan.watch,
            events: self.context.view,
            directory: self.context.record.path(),
            machines: machines.clone(),
            peaks: executions.map(Executions::peaks),
            is_private: *is_private,
            is_distributed: caps.distributed_tables,
            is_pooled: caps.pooling.is_some_and(|pooling| !pooling.keeps_sessions()),
            tables: tables(self.workload, caps),
            server: identity.clone(),
        })
    }

    /// Returns what the faults need, if the plan has any.
    fn faults(&mut self) -> Option<FaultSubject<'a>> {
        let (plan, server) = (self.plan.fault.as_ref()?, self.server.held.take()?);
        let (context, options) = (self.context, self.server.options?);
        let directory = context.record.path();
        Some(FaultSubject {
            plan,
            ramp: Duration::from_secs_f64(self.plan.window().0),
            server,
            options: context.interrupt.options(options),
            events: context.view,
            stop: &context.interrupt.stop,
            environment: environment(self.plan.target.as_str(), &directory, Some(options)),
            directory,
            has_agents: self.team.is_some(),
        })
    }

    /// Returns the CPUs of the engine's threads, and adds them to the record. Agents pin their own threads.
    fn pin(&self) -> Result<Vec<usize>> {
        let pin = match self.team {
            None => pinning::cpus(self.plan.drive.pin.as_deref(), self.plan.drive.threads)?,
            Some(_) => Vec::new(),
        };
        self.context.record.edit(|recording| recording.record.client.pinned.clone_from(&pin));
        Ok(pin)
    }

    /// Has the agents run the clients.
    fn run_by_team(
        &self,
        team: &TeamOfRun<'_>,
        listener: &mut Listener<'_, '_, '_>,
        executions: &RefCell<Option<Executions>>,
    ) -> Result<(RunOutcome, Vec<DriverRecord>)> {
        let drive = TeamDrive {
            team: team.team,
            task: &team.task(self.plan, &self.server),
            drive: &self.workload.drive,
            stop: &self.context.interrupt.stop,
        };
        let on_executions = &mut |ended: Vec<Execution>| {
            executions.borrow_mut().iter_mut().for_each(|kept| kept.add(&ended));
        };
        drive.run(&mut |event| listener.event(event), on_executions)
    }

    /// Runs the clients in this process.
    fn run_here(
        &self,
        pin: Vec<usize>,
        listener: &mut Listener<'_, '_, '_>,
        executions: &RefCell<Option<Executions>>,
        logs: &Logs<'_>,
    ) -> Result<(RunOutcome, Vec<DriverRecord>)> {
        let (events, connections) = (self.context.events, self.plan.links());
        let audience = Audience {
            on_connect: &|connected| events.event(&events::RunEvent::Connecting { connected, connections }),
            on_event: &mut |event: EngineEvent<'_>| listener.event(event),
            observer: &mut |thread, epoch_ns| {
                let log = logs.journal.map(|journal| journal.observer(thread, epoch_ns));
                let ledger = logs.ledger.map(|ledger| ledger.observer(epoch_ns));
                let kept = executions.borrow_mut().as_mut().map(|kept| kept.observer(thread, epoch_ns));
                both(both(log, ledger), kept)
            },
            start: &mut || Some(Instant::now()),
        };
        let drive = &self.workload.drive;
        let spec = RunSpec { probe: self.server.is_watched.then_some(IDENTITY), ..spec(self.plan, pin) };
        let stop = &self.context.interrupt.stop;
        let readers: Vec<_> = self.server.readers.iter().map(|reader| reader.options.clone()).collect();
        let ran = run(drive, self.server.caps, self.backend(&readers), &spec, stop, audience);
        ran.map(|outcome| (outcome, Vec::new())).map_err(|error| not_started(error, self.server.caps.pooling))
    }

    /// Returns what the clients connect to.
    fn backend<'b>(&'b self, readers: &'b [ConnectOptions]) -> Backend<'b> {
        match (self.server.options, self.server.of_queries) {
            (None, _) => Backend::None,
            (Some(options), None) if readers.is_empty() => Backend::Server(options),
            (Some(transactions), queries) => Backend::Servers { transactions, queries, readers },
        }
    }

    /// Begins to measure how far readers are behind, if there are any.
    fn staleness<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>) -> Option<Staleness<'scope>> {
        let target = self.server.options.filter(|_| !self.server.readers.is_empty())?;
        Some(Staleness::begin(scope, target, self.server.readers))
    }
}

/// What was found about a reader while the clients drove.
pub(crate) struct ReaderDriven {
    /// Connections of clients.
    pub(crate) clients: u32,
    /// The servers that it leads to, if there are several.
    pub(crate) endpoints: Vec<EndpointRecord>,
    /// How far it was behind, or why that is not known.
    pub(crate) staleness: std::result::Result<StalenessRecord, String>,
}

/// Files with each transaction of a run.
struct Logs<'a> {
    journal: Option<&'a Journal>,
    ledger: Option<&'a LedgerWriter>,
}

/// Returns one observer for two.
fn both(one: Option<Box<dyn Observer>>, other: Option<Box<dyn Observer>>) -> Option<Box<dyn Observer>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Box::new(Both(one, other))),
        (one, other) => one.or(other),
    }
}

/// Returns the failure of a run that could not start. In session pooling each session has a connection of the pool to itself.
fn not_started(error: RunError, pooling: Option<Pooling>) -> CommandError {
    let (code, clients) = match &error {
        RunError::Connect(ConnectFailed::Interrupted { .. }) => (Code::Interrupted, None),
        RunError::Connect(ConnectFailed::Refused { clients, .. }) => (Code::Start, Some(*clients)),
        RunError::Stages(_) | RunError::CalledOff | RunError::Thread { .. } => (Code::Start, None),
    };
    let failure = CommandError::new(code, error);
    match clients.filter(|_| pooling == Some(Pooling::Session)) {
        None => failure,
        Some(clients) => failure.hint(format!(
            "the pool needs a connection for each of the {clients} clients, and up to three for pgdyno: raise the size of the pool, use fewer \
             clients, or --no-samples"
        )),
    }
}

/// Returns the tables of the workload that are on one node.
fn tables(workload: &Workload, caps: &Capabilities) -> Vec<String> {
    if caps.distributed_tables {
        return Vec::new();
    }
    workload.data.iter().flat_map(|data| data.tables(caps)).map(|table| table.name.to_owned()).collect()
}
