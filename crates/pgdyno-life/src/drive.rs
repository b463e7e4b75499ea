//! The drive: runs the engine, passes its events to the view and the record, and samples the server's counters at the
//! ends of the window.

pub(crate) mod cpus;
mod endpoints;
pub(crate) mod executions;
mod freshness;
mod journal;
mod notices;
pub(crate) mod pinning;
pub(crate) mod query_plans;
pub(crate) mod watch;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use pgdyno_engine::{Audience, Backend, Control, Ended, Event, Rules, RunError, RunOutcome, RunSpec, run};
use pgdyno_measure::Phase;
use pgdyno_net::ConnectOptions;
use pgdyno_plan::{Facts, Order, Plan};
use pgdyno_results::{DriverRecord, Execution};
use pgdyno_server::os::Machines;
use pgdyno_server::{DiskReads, IDENTITY, Sample, ServerIdentity, Work};
use pgdyno_workload::{Capabilities, DataSet, Note, Workload};

use crate::agents::Team;
use crate::agents::drive as by_agents;
use crate::agents::load::SharedLoad;
use crate::agents::task::{DriveTask, QueriesTask};
use crate::drive::endpoints::Endpoints;
use crate::drive::executions::{Both, Executions, Kept};
use crate::drive::journal::Journal;
use crate::drive::notices::Notices;
use crate::drive::watch::{Subject, Watch, Watched};
use crate::events::{self, EventSink};
use crate::exit_code::Code;
use crate::failure::{Failure, Result};
use crate::kept_session::KeptSession;
use crate::record::Recording;

/// How long ended sessions may take to report their statistics.
const SETTLING: Duration = Duration::from_secs(3);

/// The results of a drive.
pub(crate) struct Driven {
    pub(crate) outcome: RunOutcome,
    /// The drivers, if there were several.
    pub(crate) drivers: Vec<DriverRecord>,
    /// The server's counts in the measured window. Sessions report up to a second late.
    pub(crate) window: Option<Work>,
    /// The server's counts from before the first client connected until after the last one left: exact, except for
    /// pgdyno's own few statements.
    pub(crate) whole: Option<Work>,
    /// Bytes that the server's processes read from disks in the measured window, if known.
    pub(crate) disk_reads: Option<DiskReads>,
    /// What the watchers recorded, if there were any.
    pub(crate) watched: Option<Watched>,
    /// Each execution of large queries, if there were any.
    pub(crate) kept: Option<Kept>,
}

/// The server that the clients drive.
pub(crate) struct DrivenServer<'a> {
    pub(crate) caps: &'a Capabilities,
    /// How to connect to it; `None` without a server.
    pub(crate) options: Option<&'a ConnectOptions>,
    /// How groups of queries connect, if that is another way.
    pub(crate) of_queries: Option<&'a ConnectOptions>,
    /// A connection for statistics, if the server keeps statistics that cover all of it.
    pub(crate) sampler: Option<KeptSession>,
    /// Whether it has statistics to watch.
    pub(crate) is_watched: bool,
    /// Whether it is a private server.
    pub(crate) is_private: bool,
    /// How its machine is read.
    pub(crate) machines: Machines,
    /// The server of pgdyno's own sessions, if it says which one it is.
    pub(crate) server: Option<ServerIdentity>,
}

/// Agents that drive, and what they need to know of the run.
pub(crate) struct TeamOfRun<'a> {
    pub(crate) team: &'a Team,
    /// The facts that the plan was made from.
    pub(crate) facts: &'a Facts,
    /// Connections of each machine that loads, if the user said how many.
    pub(crate) loaders: Option<u16>,
    /// Files of the workload that are too large for the plan, by their SHA-256.
    pub(crate) files: Vec<(String, &'a [u8])>,
}

impl<'a> TeamOfRun<'a> {
    /// Returns a load that the agents help with; `None` where its rows are made by SQL, or by files that only this
    /// machine has.
    pub(crate) fn load(
        &self,
        plan: &Plan,
        data: &dyn DataSet,
        options: &ConnectOptions,
        caps: &Capabilities,
    ) -> Option<SharedLoad<'a>> {
        let is_built_in = plan.scripts.is_empty() && plan.directory.is_none() && data.sql_data().is_none();
        // The plan has every parameter, also those that depend on the number of clients.
        let workload = is_built_in.then(|| Order::of_plan(plan).workload)?;
        let loaded = self.facts.loaded.as_ref();
        Some(SharedLoad::new(self.team, options, &workload, loaded, data, caps, self.loaders))
    }

    /// Returns the task of the first agent in the first stage.
    fn task(&self, plan: &Plan, server: &DrivenServer<'_>) -> DriveTask {
        // A null server is each agent's own.
        let given = server.options.filter(|_| server.is_watched);
        DriveTask {
            plan: plan.clone(),
            facts: self.facts.clone(),
            caps: server.caps.clone(),
            files: DriveTask::files(self.files.iter().map(|(hash, bytes)| (hash.as_str(), *bytes))),
            database: given.map(|options| options.dbname().to_owned()),
            options: given.and_then(|options| options.session_options()).map(str::to_owned),
            queries: server.of_queries.map(|options| QueriesTask {
                application_name: options.application_name().map(str::to_owned),
                options: options.session_options().map(str::to_owned),
            }),
            stage: 0,
            driver: 0,
            drivers: self.team.len(),
        }
    }
}

/// Returns the engine's specification of the plan.
pub(crate) fn spec(plan: &Plan, pin: Vec<usize>) -> RunSpec {
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    RunSpec {
        clients: plan.clients,
        connections: plan.connections,
        threads: plan.threads,
        share: None,
        stage: None,
        mode: plan.mode,
        wire: plan.wire,
        pin,
        rate: plan.pace.rate(),
        rules: Rules {
            max_tries: plan.max_tries,
            latency_limit_ns: plan.latency_limit_ms.map(|ms| (ms * 1e6) as u64),
            transactions: plan.transactions,
            ..Rules::default()
        },
        ramp_ns: ns(plan.ramp_s),
        measure_ns: plan.time_s.map(ns),
        interval_ns: 1_000_000_000,
        grace_ns: ns(plan.grace_s),
        reconnect_ns: ns(plan.reconnect_s),
        probe: None,
        coalesce_ns: plan.coalesce_us.map_or(0, |us| (us * 1e3) as u64),
        seed: plan.seed,
    }
}

/// The server's processes are read every so many intervals, because some start and end. With many clients a reading
/// costs milliseconds.
const INTERVALS_PER_LOOK: u64 = 10;

/// Intervals between two looks at the session for samples, which has nothing to do between them.
const INTERVALS_PER_LOOK_IN: u64 = 2;

/// Samples of the server's counters.
struct Samples<'a> {
    options: Option<&'a ConnectOptions>,
    session: Option<KeptSession>,
    reads: Option<DiskReads>,
    intervals: u64,
    before: Option<Sample>,
    window: (Option<Sample>, Option<Sample>),
}

impl<'a> Samples<'a> {
    fn new(session: Option<KeptSession>, options: Option<&'a ConnectOptions>) -> Self {
        let mut samples = Self { options, session, reads: None, intervals: 0, before: None, window: (None, None) };
        samples.before = samples.take();
        samples
    }

    fn take(&mut self) -> Option<Sample> {
        match self.session.as_mut()?.ask(Sample::take) {
            Ok(sample) => sample,
            // The server is lost: the run reports why.
            Err(_) => {
                self.session = None;
                None
            }
        }
    }

    /// Forgets all: the server is not that of all clients.
    fn leave_out(&mut self) {
        *self = Self { options: None, session: None, reads: None, intervals: 0, before: None, window: (None, None) };
    }

    /// Returns when the server of its session was started.
    fn started(&self) -> Option<&str> {
        Some(self.session.as_ref()?.server()?.started.as_str())
    }

    /// Keeps the session alive after an interval.
    fn look_in(&mut self) {
        self.intervals += 1;
        if self.intervals.is_multiple_of(INTERVALS_PER_LOOK_IN)
            && let Some(session) = &mut self.session
        {
            session.look_in();
        }
    }

    /// Returns the number of transactions that only kept the session alive.
    fn looks(&self) -> u64 {
        self.session.as_ref().map_or(0, KeptSession::looks)
    }

    /// Samples at the start of the measured window.
    fn open(&mut self, watch: Option<&Watch<'_>>) {
        if self.window.0.is_none() {
            watch.iter().for_each(|watch| watch.window_opens());
            self.window.0 = self.take();
            // If the connection is lost, the run reports why.
            let begin = |(admin, options)| DiskReads::begin(admin, options).ok().flatten();
            self.reads = self.session.as_mut().map(KeptSession::as_is).zip(self.options).and_then(begin);
        }
    }

    /// Samples after an interval of the window.
    fn go_on(&mut self) {
        if self.intervals.is_multiple_of(INTERVALS_PER_LOOK)
            && let Some(reads) = &mut self.reads
        {
            reads.go_on();
        }
    }

    /// Samples at its end.
    fn close(&mut self, watch: Option<&Watch<'_>>) {
        if self.window.1.is_none() {
            watch.iter().for_each(|watch| watch.window_closes());
            if let Some(reads) = &mut self.reads {
                reads.go_on();
            }
            self.window.1 = self.take();
        }
    }

    /// Waits until the sessions of the clients, which have disconnected, have reported: the counters no longer change
    /// then.
    fn settle(&mut self) -> Option<Sample> {
        let patience = Instant::now() + SETTLING;
        // Before PostgreSQL 15 the same figures are returned for half a second.
        let version = self.session.as_mut().and_then(|session| session.as_is().parameters().server_version_num());
        let pause = Duration::from_millis(if version.is_some_and(|version| version < 150_000) { 600 } else { 100 });
        let mut last = self.take()?;
        loop {
            std::thread::sleep(pause);
            let next = self.take()?;
            // The query itself counts as up to two transactions.
            let still = next.since(&last).is_none_or(|work| work.transactions() <= 3);
            if still || Instant::now() > patience {
                return Some(next);
            }
            last = next;
        }
    }
}

fn between(first: Option<&Sample>, last: Option<&Sample>) -> Option<Work> {
    last?.since(first?)
}

/// Returns the tables of the workload that are on one node.
fn tables(workload: &Workload, caps: &Capabilities) -> Vec<String> {
    if caps.distributed_tables {
        return Vec::new();
    }
    workload.data.iter().flat_map(|data| data.tables(caps)).map(|table| table.name.to_owned()).collect()
}

/// Drives the server. An error means that the run could not start.
pub(crate) fn drive(
    plan: &Plan,
    workload: &Workload,
    driven: DrivenServer<'_>,
    team: Option<&TeamOfRun<'_>>,
    control: &Control,
    progress: &dyn EventSink,
    recording: &mut Recording,
) -> Result<Driven> {
    let task = team.map(|team| (team.team, team.task(plan, &driven)));
    let DrivenServer { caps, options, of_queries, sampler, is_watched, is_private, machines, server } = driven;
    let txns = recording.txn_names().into_iter().map(str::to_owned).collect();
    let executions = Executions::new(&workload.drive.stages, plan.clients, txns, workload.drive.growth);
    let subject = options.filter(|_| is_watched && !plan.watch.off).map(|options| Subject {
        options,
        plan: &plan.watch,
        events: progress,
        directory: recording.path().to_owned(),
        machines,
        peaks: executions.as_ref().map(Executions::peaks),
        is_private,
        is_distributed: caps.distributed_tables,
        is_pooled: caps.pooling.is_some_and(|pooling| !pooling.keeps_sessions()),
        tables: tables(workload, caps),
        server: server.clone(),
    });
    workload.drive.prepare();
    // Agents pin their own threads.
    let pin = match task {
        None => pinning::cpus(plan.pin.as_deref(), plan.threads)?,
        Some(_) => Vec::new(),
    };
    recording.record.client.pinned.clone_from(&pin);
    let mut samples = Samples::new(sampler, options);
    let backend = match (options, of_queries) {
        (None, _) => Backend::None,
        (Some(options), None) => Backend::Server(options),
        (Some(transactions), Some(queries)) => Backend::Servers { transactions, queries },
    };
    let (ramp_s, time_s) = plan.window();
    let no_ramp = ramp_s <= 0.0;
    let journal = plan.log.then(|| Journal::open(recording.path(), plan)).transpose()?;
    let executions = RefCell::new(executions);
    let mut notices = Notices::default();
    let mut probes = 0;
    let (ran, watched) = std::thread::scope(|scope| {
        let mut watch = subject.as_ref().map(|subject| Watch::begin(scope, subject));
        let on_event = &mut |event: Event<'_>| match event {
            Event::Connected if no_ramp => samples.open(watch.as_ref()),
            Event::Connected => {}
            Event::Started { answers, .. } => {
                probes = answers.len() as u64;
                let endpoints = Endpoints::of(answers);
                let sampled = watch.as_ref().and_then(Watch::server_started);
                let own = server.iter().map(|server| server.started.as_str()).chain(samples.started()).chain(sampled);
                let named = server.as_ref().map_or_else(|| "one of them".to_owned(), ToString::to_string);
                if let Some(warning) = endpoints.warning(&named, &own.collect::<Vec<_>>()) {
                    progress.warn(&warning);
                    recording.record.warnings.push(warning);
                    if let Some(server) = &mut recording.record.server {
                        server.endpoints = endpoints.records();
                    }
                    watch.iter_mut().for_each(Watch::leave_server_out);
                    samples.leave_out();
                }
                watch.iter().for_each(Watch::started);
                if no_ramp {
                    samples.open(watch.as_ref());
                }
            }
            Event::Interval(interval) => {
                samples.look_in();
                let end_ns = ramp_s * 1e9;
                match interval.phase {
                    Phase::Ramp if interval.end_ns as f64 >= end_ns => samples.open(watch.as_ref()),
                    Phase::Ramp => {}
                    Phase::Measure if time_s.is_some_and(|t| interval.end_ns as f64 >= end_ns + t * 1e9) => {
                        samples.close(watch.as_ref())
                    }
                    Phase::Measure => samples.go_on(),
                    Phase::Drain => samples.close(watch.as_ref()),
                }
                watch.iter().for_each(|watch| watch.interval(interval));
                progress.event(&events::Event::Interval { interval });
                recording.interval(interval);
                executions.borrow_mut().iter_mut().for_each(|executions| executions.interval(interval));
            }
            Event::Lost { why } => progress.note(&format!("a client lost its connection: {why}")),
            Event::ConnectFailed { error, .. } => progress.note(&format!("a client could not connect: {error}")),
            Event::Note(Note::Notice(message)) => notices.take(message, progress),
            Event::Note(note) => progress.note(&note.text()),
        };
        let ran = match &task {
            Some((team, task)) => {
                let on_executions = &mut |ended: Vec<Execution>| {
                    executions.borrow_mut().iter_mut().for_each(|kept| kept.add(&ended));
                };
                by_agents::drive(team, task, &workload.drive, control, on_event, on_executions)
            }
            None => run(
                &workload.drive,
                caps,
                backend,
                &RunSpec { probe: is_watched.then_some(IDENTITY), ..spec(plan, pin) },
                control,
                Audience {
                    on_connect: &|connected| {
                        progress.event(&events::Event::Connecting { connected, connections: plan.links() })
                    },
                    on_event,
                    observer: &mut |thread, epoch_ns| {
                        let log = journal.as_ref().map(|journal| journal.observer(thread, epoch_ns));
                        let kept = executions.borrow_mut().as_mut().map(|kept| kept.observer(thread, epoch_ns));
                        match (log, kept) {
                            (Some(log), Some(kept)) => Some(Box::new(Both(log, kept))),
                            (log, kept) => log.or(kept),
                        }
                    },
                    start: &mut || Some(Instant::now()),
                },
            )
            .map(|outcome| (outcome, Vec::new()))
            .map_err(|error| match &error {
                RunError::Connect(pgdyno_engine::ConnectFailed::Interrupted { .. }) => {
                    Failure::new(Code::Interrupted, error)
                }
                RunError::Connect(_) | RunError::Stages(_) | RunError::CalledOff | RunError::Thread { .. } => {
                    Failure::new(Code::Start, error)
                }
            }),
        };
        samples.close(watch.as_ref());
        (ran, watch.map(Watch::end))
    });
    progress.ended();
    recording.record.notices = notices.end(progress);
    let (kept, written) = executions.into_inner().map(|executions| executions.end(recording.path())).unzip();
    if let Some(Err(error)) = written {
        progress.warn(&error);
        recording.record.warnings.push(error);
    }
    if let Some(Err(error)) = journal.map(Journal::close) {
        progress.warn(&error);
        recording.record.warnings.push(error);
    }
    let (outcome, drivers) = ran?;
    let after = samples.settle();
    let own = watched.as_ref().map_or(0, |watched| watched.transactions) + samples.looks() + probes;
    // Sessions behind a pooler outlive the clients: statistics that they have not reported yet are missing, and what
    // the pooler does between two clients is included.
    let whole = between(samples.before.as_ref(), after.as_ref()).filter(|_| caps.pooling.is_none());
    Ok(Driven {
        outcome,
        drivers,
        window: between(samples.window.0.as_ref(), samples.window.1.as_ref()),
        whole: whole.map(|work| work.without(own)),
        disk_reads: samples.reads,
        watched,
        kept,
    })
}

/// Returns why a run ended early; `None` if it did not.
pub(crate) fn early_end(ended: &Ended) -> Option<String> {
    match ended {
        Ended::Complete => None,
        Ended::Interrupted => Some("ended by the user; what was measured until then stands".to_owned()),
        Ended::ServerLost(why) => Some(format!(
            "the server was lost: {why}; what was measured until then stands (--reconnect TIME goes on trying)"
        )),
        Ended::Fatal(why) => Some(format!("the run was ended by an error: {why}")),
        Ended::DriverLost(why) => Some(format!("{why}; what was measured until then stands")),
    }
}
