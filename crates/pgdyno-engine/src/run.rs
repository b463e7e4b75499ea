//! One run: deals clients over threads, merges their intervals, and ends in every case.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use pgdyno_measure::{Interval, Merger, Phase, StagePlace, Totals};
use pgdyno_net::{ConnectError, ConnectOptions, Interrupter};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Capabilities, ClientContext, ClientId, Drive, GroupWork, Note, Rng};

use crate::backlog::Backlog;
use crate::connect::{ConnectFailed, Probe, Row, connect_all};
use crate::errands::{self, CONNECTORS};
use crate::errors::ErrorSample;
use crate::fleet::Fleet;
use crate::observer::Observer;
use crate::routes::{EndpointWork, add_work};
use crate::scripts::RunScripts;
use crate::stage::{GroupSpec, StageSpec, WhenDone};
use crate::usage::{ProcessUsage, process_usage};
use crate::worker::{Channels, Errands, Report, Timing, Worker};
use crate::{RunSpec, Stop};
use pgdyno_poll::Poller;

/// Peer of the clients.
#[derive(Clone, Copy)]
pub enum Backend<'a> {
    /// None: the transactions of the scripts send nothing.
    None,
    /// A server.
    Server(&'a ConnectOptions),
    /// Several servers, or several ways to connect.
    Servers {
        /// For transactions.
        transactions: &'a ConnectOptions,
        /// For groups whose work is queries; `None`: they connect as transactions do.
        queries: Option<&'a ConnectOptions>,
        /// Readers: each client has a connection to one of them, too, for transactions that only read.
        readers: &'a [ConnectOptions],
    },
}

impl Backend<'_> {
    /// Returns how groups of this kind connect, so that `opening` ends attempts.
    fn options(self, work: GroupWork, opening: &Interrupter) -> Option<ConnectOptions> {
        match (self, work) {
            (Self::None, _) => None,
            (Self::Server(options), _)
            | (Self::Servers { transactions: options, .. }, GroupWork::Transactions)
            | (Self::Servers { transactions: options, queries: None, .. }, GroupWork::Queries)
            | (Self::Servers { queries: Some(options), .. }, GroupWork::Queries) => {
                Some(options.interrupted_by(opening))
            }
        }
    }

    /// Returns how clients connect to each reader.
    fn readers(self, opening: &Interrupter) -> Vec<ConnectOptions> {
        match self {
            Self::None | Self::Server(_) => Vec::new(),
            Self::Servers { readers, .. } => readers.iter().map(|options| options.interrupted_by(opening)).collect(),
        }
    }
}

/// Something that happened in a run.
#[derive(Debug)]
pub enum EngineEvent<'a> {
    /// All clients of the first stage are connected, and are about to begin. What takes time now delays none of them.
    Connected,
    /// All clients are connected and the first transactions begin.
    Started {
        /// Time that connecting took.
        connect_ns: u64,
        /// Answers to [`RunSpec::probe`], one for each connection; an empty one where the server refused it.
        answers: &'a [Vec<Option<String>>],
        /// The same by reader.
        of_readers: &'a [Vec<Vec<Option<String>>>],
    },
    /// An interval ended.
    Interval(&'a Interval),
    /// A client lost its connection.
    Lost {
        /// The message of the system or the server.
        why: &'a str,
    },
    /// A client could not open a connection for its transaction, and was aborted.
    ConnectFailed {
        /// The client's number.
        client: u32,
        /// The cause.
        error: &'a ConnectError,
    },
    /// A client tried to open its lost connection again, and failed.
    NotReopened {
        /// The cause.
        error: &'a ConnectError,
    },
    /// A message of a script, or a notice of the server, for the user.
    Note(&'a Note),
}

/// Callbacks of a run.
pub struct Audience<'a> {
    /// Called while clients connect, with the number that are connected, from any thread.
    pub on_connect: &'a (dyn Fn(usize) + Sync),
    /// Called for each event, on the calling thread.
    pub on_event: &'a mut dyn FnMut(EngineEvent<'_>),
    /// Makes the observer of an engine thread's transactions. Receives the thread's number within the run and the
    /// wall-clock time at which the run's time is 0, in nanoseconds since 1970.
    pub observer: &'a mut dyn FnMut(usize, u64) -> Option<Box<dyn Observer>>,
    /// Called when all clients of a stage are connected. Returns the moment at which they begin, which may lie in the
    /// future; `None` calls the run off.
    pub start: &'a mut dyn FnMut() -> Option<Instant>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// As planned.
    Complete,
    /// On request.
    Interrupted,
    /// No client had a connection left; the message of the last one.
    ServerLost(String),
    /// An error after which the run makes no sense, such as a full disk.
    Fatal(String),
    /// One of several drivers was lost, and its clients with it.
    DriverLost(String),
}

/// The result of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// How it ended.
    pub ended: RunEnd,
    /// Warm-up of the first stage, which gives the run its figures: of its transactions, if queries run beside them.
    pub ramp: Totals,
    /// Its measured window.
    pub measured: Totals,
    /// Transactions that ended after the window.
    pub drain: Totals,
    /// Its groups of clients, if there are several.
    pub groups: Vec<GroupOutcome>,
    /// The stages after the first.
    pub later_stages: Vec<StageOutcome>,
    /// Time that connecting all clients of the first stage took.
    pub connect_ns: u64,
    /// Engine threads of the first stage, in this process.
    pub threads: usize,
    /// Their clients.
    pub clients: u32,
    /// Clients without a connection at the end of their stage.
    pub clients_lost: usize,
    /// Clients that were aborted, because none of their transactions could succeed.
    pub clients_aborted: usize,
    /// The engine thread of the first client that was aborted before the end.
    pub first_aborted_on: Option<usize>,
    /// Transactions that were cancelled because they did not end within the grace.
    pub cancelled_in_flight: usize,
    /// Errors of the server by SQLSTATE, retried ones included.
    pub errors: BTreeMap<SqlState, ErrorSample>,
    /// Work in the measured window of the first stage, of the target and of each reader; empty without readers.
    pub endpoints: Vec<EndpointWork>,
    /// CPU time of the process within the measured window of the first stage, and its memory.
    pub process: ProcessUsage,
}

/// The result of one group of clients in one stage. Threads are not counted by group: `workers` is empty.
#[derive(Debug)]
pub struct GroupOutcome {
    /// Its name.
    pub name: &'static str,
    /// How many clients it has.
    pub clients: u32,
    /// The warm-up.
    pub ramp: Totals,
    /// The measured window.
    pub measured: Totals,
    /// Transactions that ended after the window.
    pub drain: Totals,
}

/// The result of a stage after the first. Times count from the start of the run.
#[derive(Debug)]
pub struct StageOutcome {
    /// Its name.
    pub name: &'static str,
    /// The warm-up.
    pub ramp: Totals,
    /// The measured window.
    pub measured: Totals,
    /// Transactions that ended after the window.
    pub drain: Totals,
    /// Its groups of clients, if there are several.
    pub groups: Vec<GroupOutcome>,
}

impl RunOutcome {
    /// Returns all phases of the first stage, in order.
    #[must_use]
    pub fn phases(&self) -> [&Totals; 3] {
        [&self.ramp, &self.measured, &self.drain]
    }

    /// Returns all phases of each group of each stage, in order.
    pub fn phases_by_group(&self) -> impl Iterator<Item = [&Totals; 3]> {
        let later = self.later_stages.iter().map(|stage| (stage.phases(), &stage.groups));
        std::iter::once((self.phases(), &self.groups)).chain(later).flat_map(|(all, groups)| {
            let whole = groups.is_empty().then_some(all);
            whole.into_iter().chain(groups.iter().map(GroupOutcome::phases))
        })
    }

    /// Adds the result of the next stage.
    pub fn append(&mut self, name: &'static str, later: Self) {
        self.ended = later.ended;
        self.clients_lost += later.clients_lost;
        self.clients_aborted += later.clients_aborted;
        self.first_aborted_on = self.first_aborted_on.or(later.first_aborted_on);
        self.cancelled_in_flight += later.cancelled_in_flight;
        add_errors(&mut self.errors, later.errors);
        let Self { ramp, measured, drain, groups, .. } = later;
        self.later_stages.push(StageOutcome { name, ramp, measured, drain, groups });
    }
}

impl StageOutcome {
    /// Returns all phases, in order.
    #[must_use]
    pub fn phases(&self) -> [&Totals; 3] {
        [&self.ramp, &self.measured, &self.drain]
    }
}

impl GroupOutcome {
    /// Returns all phases, in order.
    #[must_use]
    pub fn phases(&self) -> [&Totals; 3] {
        [&self.ramp, &self.measured, &self.drain]
    }
}

fn add_errors(known: &mut BTreeMap<SqlState, ErrorSample>, more: impl IntoIterator<Item = (SqlState, ErrorSample)>) {
    for (code, sample) in more {
        let count = sample.count;
        known.entry(code).or_insert(ErrorSample { count: 0, ..sample }).count += count;
    }
}

/// The error when a run could not take place.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Not all clients could connect.
    #[error(transparent)]
    Connect(#[from] ConnectFailed),
    /// The stages of the workload cannot be run.
    #[error("{0}")]
    Stages(String),
    /// It was called off when all clients were connected.
    #[error("the run was called off before its clients began")]
    CalledOff,
    /// The system gave no poller or no thread.
    #[error("failed to set up engine thread {index}")]
    Thread {
        /// Which thread.
        index: usize,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Runs the stages of `drive` one after the other, on a server with these capabilities: connects the clients of each,
/// lets them run as `spec` says, and merges what they counted.
///
/// # Errors
/// When the run could not begin. Later errors are part of the result.
pub fn run(
    drive: &Drive,
    caps: &Capabilities,
    backend: Backend<'_>,
    spec: &RunSpec,
    stop: &Stop,
    mut audience: Audience<'_>,
) -> Result<RunOutcome, RunError> {
    let stages = drive.stages.iter().map(|stage| StageSpec::new(stage, spec)).collect::<Result<Vec<_>, _>>();
    let stages = stages.map_err(RunError::Stages)?;
    let staged = StagedRun { scripts: RunScripts::new(drive, caps), backend, spec, stop };
    let wanted = spec.stage.map_or(0..stages.len(), |nth| nth..nth + 1);
    let mut start = Start { stage: wanted.start, ..Start::default() };
    let mut run: Option<RunOutcome> = None;
    for stage in stages.get(wanted).unwrap_or_default() {
        let ran = staged.run(stage, &mut start, &mut audience);
        match &mut run {
            None => run = Some(ran?),
            Some(run) => match ran {
                Ok(later) => run.append(stage.name, later),
                Err(_) if stop.is_requested() => run.ended = RunEnd::Interrupted,
                Err(error) => run.ended = RunEnd::Fatal(format!("stage '{}' could not begin: {error}", stage.name)),
            },
        }
        if run.as_ref().is_some_and(|run| run.ended != RunEnd::Complete) {
            break;
        }
    }
    run.ok_or_else(|| RunError::Stages("the drive has no such stage".to_owned()))
}

/// The start of a stage within the run.
#[derive(Clone, Copy, Default)]
struct Start {
    /// Number of the stage.
    stage: usize,
    /// Start of the first stage.
    origin: Option<Instant>,
    /// The same by the wall clock, in nanoseconds since 1970.
    epoch_ns: Option<u64>,
    /// Number of the stage's first interval.
    interval: u64,
}

/// Input that all stages of a run share.
struct StagedRun<'a> {
    scripts: RunScripts,
    backend: Backend<'a>,
    spec: &'a RunSpec,
    stop: &'a Stop,
}

impl StagedRun<'_> {
    /// Runs a stage, and sets `start` to the start of the next one.
    fn run(&self, stage: &StageSpec, start: &mut Start, audience: &mut Audience<'_>) -> Result<RunOutcome, RunError> {
        let Self { spec, stop, .. } = *self;
        let Audience { on_connect, on_event, observer, start: starter } = audience;
        let begun = Instant::now();
        let all_links = spec.links_of(stage.clients());
        // Of the whole run, of which this process may have a share.
        let threads = spec.threads_of(stage.clients());
        let own = spec.share.map_or(0..threads, |share| share.threads(threads));
        // In a stage with few clients it may have none, and more in another one.
        if own.is_empty() && spec.stage.is_none() {
            return Err(RunError::Stages(format!("there is no thread for this driver: the run has {threads}")));
        }
        // A stage with one group ends when all its clients are done.
        let ends_with = stage.ends_with.filter(|_| stage.groups.len() > 1);
        if own.len() < threads && ends_with.is_some() {
            let why = "ends when one group is done, which one driver of several cannot see";
            return Err(RunError::Stages(format!("stage '{}' of the workload {why}", stage.name)));
        }
        let clients_of = |thread| (0..stage.groups.len()).map(|g| stage.share(g, thread, threads).count).sum::<u32>();
        let own_clients = own.clone().map(clients_of).sum();
        let lines_of = |thread: usize| all_links / threads + usize::from(thread < all_links % threads);
        let own_links = own.clone().map(lines_of).sum::<usize>();
        // Attempts to connect end with the stage, even if the server never answers.
        let opening = Interrupter::new();
        stop.interrupts(&opening);
        let of_work = [GroupWork::Transactions, GroupWork::Queries].map(|work| self.backend.options(work, &opening));
        let [of_transactions, of_queries] = of_work.each_ref();
        let of_readers = self.backend.readers(&opening);
        let options: Option<Vec<&ConnectOptions>> = match (of_transactions, of_queries, spec.connections) {
            (Some(first), _, Some(_)) => Some(vec![first; own_links]),
            (Some(first), Some(queries), None) => {
                let of = |work| if work == GroupWork::Queries { queries } else { first };
                let of_thread = |thread: usize| {
                    let readers = self.readers(stage, thread, threads, of_readers.len());
                    let readers = readers.into_iter().flatten().map(|nth| &of_readers[nth]).collect::<Vec<_>>();
                    stage.dealt(thread..thread + 1, threads).map(of).chain(readers).collect::<Vec<_>>()
                };
                Some(own.clone().flat_map(of_thread).collect())
            }
            _ => None,
        };
        let except = match self.backend {
            Backend::Servers { queries: Some(_), .. } => of_queries.as_ref(),
            Backend::Servers { queries: None, .. } | Backend::None | Backend::Server(_) => None,
        };
        let probe = spec.probe.map(|sql| Probe { sql, except });
        let mut answers = Answers::default();
        let links = match &options {
            Some(options) if !spec.rules.connect_each => {
                let connected = connect_all(options, probe, stop, *on_connect)?;
                connected.notes.iter().for_each(|note| on_event(EngineEvent::Note(note)));
                answers = Answers::of(connected.answers, options, &of_readers);
                connected.links.into_iter().map(Some).collect()
            }
            _ => (0..own_links).map(|_| None).collect::<Vec<_>>(),
        };
        let mut links = links.into_iter();
        let connect_ns = begun.elapsed().as_nanos() as u64;

        let (reports, inbox) = mpsc::channel();
        if start.origin.is_none() {
            on_event(EngineEvent::Connected);
        }
        let origin = starter().ok_or(RunError::CalledOff)?;
        if start.origin.is_none() {
            on_event(EngineEvent::Started { connect_ns, answers: &answers.of_target, of_readers: &answers.of_readers });
        }
        let timing = Timing {
            origin,
            ramp_ns: stage.ramp_ns,
            measure_ns: stage.measure_ns,
            interval_ns: spec.interval_ns,
            grace_ns: stage.grace_ns,
            reconnect_ns: spec.reconnect_ns,
            coalesce_ns: spec.coalesce_ns,
            seed: spec.seed,
        };
        let first = *start.origin.get_or_insert(timing.origin);
        // The wall clock is read once, so that stages are as far from each other as their intervals say.
        let epoch_ns = *start.epoch_ns.get_or_insert_with(|| wall_clock_ns(first));
        let epoch_ns = epoch_ns + origin.saturating_duration_since(first).as_nanos() as u64;

        let backlog = Arc::default();
        let when_done = ends_with.map(|group| WhenDone::new(group, threads));
        let outcome = std::thread::scope(|scope| {
            for (index, thread) in own.clone().enumerate() {
                let setup_failed = |source| {
                    stop.at_once();
                    RunError::Thread { index, source }
                };
                let mut fleet = self
                    .fleet(stage, start.stage, thread, threads)?
                    .speaking(spec.wire)
                    .queueing_in(&backlog)
                    .observed_by(observer(thread, epoch_ns));
                if stage.is_scheduled() {
                    fleet = fleet.scheduled();
                }
                if spec.connections.is_some() {
                    fleet = fleet.sharing(lines_of(thread));
                }
                let lines = fleet.lines();
                let poller = Poller::new().map_err(setup_failed)?;
                let waker = poller.waker();
                let woken = waker.clone();
                stop.wakes(move || woken.wake());
                let (connect, requests) = mpsc::channel();
                let (answer, answers) = mpsc::channel();
                if let (Some(options), true) = (&options, spec.reconnect_ns > 0 || spec.rules.connect_each) {
                    let first = options.len() - links.len();
                    let options = &options[first..first + lines];
                    let requests = Arc::new(Mutex::new(requests));
                    for _ in 0..CONNECTORS.min(lines) {
                        let (requests, answer, waker) = (Arc::clone(&requests), answer.clone(), waker.clone());
                        let serve = move || errands::serve(options, &requests, &answer, &waker);
                        std::thread::Builder::new().spawn_scoped(scope, serve).map_err(setup_failed)?;
                    }
                }
                let errands = Errands { connect, answer, answers, waker };
                let beside = if spec.connections.is_some() { Vec::new() } else { stage.beside(thread, threads) };
                let worker = Worker::new(
                    index,
                    fleet,
                    beside,
                    links.by_ref().take(lines).collect(),
                    poller,
                    timing,
                    Channels { stop, when_done: when_done.as_ref(), reports: reports.clone(), errands },
                );
                let cpu = spec.pin.get(index).copied();
                std::thread::Builder::new()
                    .name(format!("pgdyno-{index}"))
                    .spawn_scoped(scope, {
                        let reports = reports.clone();
                        move || run_to_the_end(worker, cpu, &reports)
                    })
                    .map_err(setup_failed)?;
            }
            drop(reports);
            let coordinator =
                Coordinator::new(own.len(), stage, *start, timing, stop, &backlog, spec.rules.stop_on_abort);
            let (outcome, next_interval) = coordinator.collect(&inbox, *on_event);
            start.interval = next_interval;
            // Nobody waits for connections that are still being opened.
            opening.interrupt();
            Ok(outcome)
        });
        stop.forget();
        start.stage += 1;
        outcome.map(|outcome| RunOutcome { connect_ns, clients: own_clients, ..outcome })
    }

    /// Returns the clients of one thread. Each stage and group has random streams of its own.
    fn fleet(&self, stage: &StageSpec, number: usize, thread: usize, threads: usize) -> Result<Fleet, RunError> {
        let mut fleet: Option<Fleet> = None;
        let mut numbers = Vec::new();
        for (g, group) in stage.groups.iter().enumerate() {
            let share = stage.share(g, thread, threads);
            let rng = |purpose, n: u64| {
                let numbers = [n, number as u64, g as u64];
                // The streams of the first group do not depend on other groups.
                let used = if (number, g) == (0, 0) { 1 } else { 3 };
                Rng::derive(self.spec.seed, purpose, &numbers[..used])
            };
            let (of_group, client) = self.scripts.of(group.name)?;
            let script = |id: u32| {
                client(&ClientContext {
                    stage: stage.name,
                    group: group.name,
                    id: ClientId(id),
                    clients: group.clients,
                    rng: rng("client", id.into()),
                    seed: self.spec.seed,
                    has_ledger: group.rules.commit_timeout_ns.is_some(),
                })
            };
            let clients = (share.first..share.first + share.count).map(script).collect();
            let pacer = share.pacer(group, stage.ramp_ns, rng("pacer", thread as u64));
            let first = stage.clients_before(g) + share.first;
            fleet = Some(match fleet {
                Some(fleet) => fleet.with_group(first, clients, group.mode, group.rules, pacer),
                None => {
                    let (statements, txns) = (Arc::clone(&self.scripts.statements), self.scripts.txns());
                    Fleet::new(first, clients, group.mode, statements, txns, group.rules, pacer)
                }
            });
            numbers.push(of_group.clone());
        }
        let fleet = fleet.ok_or_else(|| RunError::Stages(format!("stage '{}' has no group", stage.name)))?;
        let fleet = fleet.tallying(self.scripts.tallies()).numbering(numbers);
        let readers = match self.backend {
            Backend::Servers { readers, .. } => self.readers(stage, thread, threads, readers.len()),
            Backend::None | Backend::Server(_) => Vec::new(),
        };
        Ok(match readers.iter().any(Option::is_some) {
            true => fleet.routing(self.scripts.readable(), &readers),
            false => fleet,
        })
    }

    /// Returns for each client of a thread, in the order in which it holds them, the number of its reader, if it has one:
    /// they are dealt in turn.
    fn readers(&self, stage: &StageSpec, thread: usize, threads: usize, readers: usize) -> Vec<Option<usize>> {
        let of_group = |(g, group): (usize, &GroupSpec)| {
            let share = stage.share(g, thread, threads);
            let has_reader = readers > 0 && self.spec.connections.is_none() && self.scripts.has_reads(group.name);
            let first = (stage.clients_before(g) + share.first) as usize;
            (first..first + share.count as usize).map(move |client| has_reader.then(|| client % readers))
        };
        stage.groups.iter().enumerate().flat_map(of_group).collect()
    }
}

/// Answers of new connections to the probe, by endpoint.
#[derive(Default)]
struct Answers {
    of_target: Vec<Row>,
    of_readers: Vec<Vec<Row>>,
}

impl Answers {
    /// Sorts answers, each with the number of its connection among `options`.
    fn of(answers: Vec<(usize, Row)>, options: &[&ConnectOptions], readers: &[ConnectOptions]) -> Self {
        let mut sorted = Self { of_target: Vec::new(), of_readers: vec![Vec::new(); readers.len()] };
        for (nth, answer) in answers {
            match readers.iter().position(|reader| std::ptr::eq(reader, options[nth])) {
                Some(reader) => sorted.of_readers[reader].push(answer),
                None => sorted.of_target.push(answer),
            }
        }
        sorted
    }
}

/// Returns the time of the wall clock at this moment, in nanoseconds since 1970.
fn wall_clock_ns(at: Instant) -> u64 {
    let (now, clock) = (Instant::now(), SystemTime::now());
    let then = (clock + at.saturating_duration_since(now)).checked_sub(now.saturating_duration_since(at));
    then.and_then(|then| then.duration_since(SystemTime::UNIX_EPOCH).ok()).map_or(0, |d| d.as_nanos() as u64)
}

/// Runs a worker. Reports its panic as an error of the run: what was measured before must not be lost, and the time
/// after it must not count as idle.
fn run_to_the_end(worker: Worker<'_>, cpu: Option<usize>, reports: &Sender<Report>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| worker.run(cpu))) {
        let why = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        // The coordinator listens until all workers are done.
        drop(reports.send(Report::Fatal(format!("thread {name} panicked: {}", why.unwrap_or("without a word")))));
    }
}

/// Merges the workers' reports of one stage.
struct Coordinator<'a> {
    /// Time from the start of the run to the start of the stage.
    offset_ns: u64,
    timing: Timing,
    stop: &'a Stop,
    backlog: &'a Backlog,
    merger: Merger,
    at_measure_start: Option<ProcessUsage>,
    stop_on_abort: bool,
    outcome: RunOutcome,
    last_loss: Option<String>,
}

impl<'a> Coordinator<'a> {
    fn new(
        threads: usize,
        stage: &StageSpec,
        start: Start,
        timing: Timing,
        stop: &'a Stop,
        backlog: &'a Backlog,
        stop_on_abort: bool,
    ) -> Self {
        let offset_ns = start.origin.map_or(0, |origin| timing.origin.duration_since(origin).as_nanos() as u64);
        let place = StagePlace { stage: start.stage, offset_ns, first_interval: start.interval };
        let group = |group: &GroupSpec| GroupOutcome {
            name: group.name,
            clients: group.clients,
            ramp: Totals::default(),
            measured: Totals::default(),
            drain: Totals::default(),
        };
        let groups = if stage.groups.len() > 1 { &stage.groups[..] } else { &[] };
        let outcome = RunOutcome {
            ended: RunEnd::Complete,
            ramp: Totals::default(),
            measured: Totals::default(),
            drain: Totals::default(),
            groups: groups.iter().map(group).collect(),
            later_stages: Vec::new(),
            connect_ns: 0,
            threads,
            clients: 0,
            clients_lost: 0,
            clients_aborted: 0,
            first_aborted_on: None,
            cancelled_in_flight: 0,
            errors: BTreeMap::new(),
            endpoints: Vec::new(),
            process: ProcessUsage::default(),
        };
        Self {
            offset_ns,
            timing,
            stop,
            backlog,
            merger: Merger::new(&vec![1; threads], &stage.headline(), place),
            at_measure_start: None,
            stop_on_abort,
            outcome,
            last_loss: None,
        }
    }

    /// Returns the result, and the number of the next stage's first interval.
    fn collect(mut self, inbox: &Receiver<Report>, on_event: &mut dyn FnMut(EngineEvent<'_>)) -> (RunOutcome, u64) {
        let measure_start = self.timing.origin + Duration::from_nanos(self.timing.ramp_ns);
        let mut edge = self.next_edge();
        loop {
            if self.at_measure_start.is_none() && Instant::now() >= measure_start {
                self.at_measure_start = Some(process_usage());
            }
            match inbox.recv_timeout(edge.saturating_duration_since(Instant::now())) {
                Ok(report) => self.take(report, on_event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Also without a report: a worker whose clients are all silent has no other clock.
            if Instant::now() >= edge {
                self.stop.wake();
                edge = self.next_edge();
            }
        }
        for interval in self.merger.finish() {
            self.closed(&interval, on_event);
        }
        let cut_short = self.cut_short();
        let next_interval = self.merger.next_interval();
        let (all, groups) = self.merger.into_phases();
        (self.outcome.ramp, self.outcome.measured, self.outcome.drain) = (all.ramp, all.measured, all.drain);
        for (outcome, phases) in self.outcome.groups.iter_mut().zip(groups) {
            (outcome.ramp, outcome.measured, outcome.drain) = (phases.ramp, phases.measured, phases.drain);
        }
        let dropped: u64 = self.outcome.phases().iter().map(|totals| totals.part.notices_dropped).sum();
        if dropped > 0 {
            let why = "of the server came faster than they could be passed on, and were dropped";
            on_event(EngineEvent::Note(&Note::Info(format!("{dropped} notices {why}"))));
        }
        if self.outcome.ended == RunEnd::Complete {
            let clients_gone = self.outcome.clients_lost > 0 && cut_short;
            if let (true, Some(why)) = (clients_gone, self.last_loss.take()) {
                self.outcome.ended = RunEnd::ServerLost(why);
            } else if self.stop.is_requested() {
                self.outcome.ended = RunEnd::Interrupted;
            }
        }
        (self.outcome, next_interval)
    }

    /// Returns the next planned end of an interval.
    fn next_edge(&self) -> Instant {
        self.timing.origin + Duration::from_nanos(self.timing.next_edge(self.timing.origin.elapsed()))
    }

    /// Returns true if the measured window ended early.
    fn cut_short(&self) -> bool {
        let planned = self.timing.measure_ns.map_or(u64::MAX, |ns| self.timing.ramp_ns.saturating_add(ns));
        self.merger.phases().measured.end_ns < planned.saturating_add(self.offset_ns)
    }

    fn take(&mut self, report: Report, on_event: &mut dyn FnMut(EngineEvent<'_>)) {
        match report {
            Report::Part { worker, part } => {
                for interval in self.merger.add(worker, part) {
                    self.closed(&interval, on_event);
                }
            }
            Report::Lost { why } => {
                on_event(EngineEvent::Lost { why: &why });
                self.last_loss = Some(why);
            }
            Report::ConnectFailed { client, error } => on_event(EngineEvent::ConnectFailed { client, error: &error }),
            Report::NotReopened(error) => on_event(EngineEvent::NotReopened { error: &error }),
            Report::Notes { notes, notice_bytes } => {
                notes.iter().for_each(|note| on_event(EngineEvent::Note(note)));
                self.backlog.release(notice_bytes);
            }
            Report::Aborted { worker } => {
                self.outcome.first_aborted_on.get_or_insert(worker);
                if self.stop_on_abort {
                    self.stop.at_once();
                }
            }
            Report::Fatal(why) => {
                if self.outcome.ended == RunEnd::Complete {
                    self.outcome.ended = RunEnd::Fatal(why);
                }
                self.stop.cleanly();
            }
            Report::Done { errors, unfinished, aborted, lost, endpoints } => {
                add_work(&mut self.outcome.endpoints, &endpoints);
                add_errors(&mut self.outcome.errors, errors);
                self.outcome.cancelled_in_flight += unfinished;
                self.outcome.clients_aborted += aborted;
                self.outcome.clients_lost += lost;
            }
        }
    }

    fn closed(&mut self, interval: &Interval, on_event: &mut dyn FnMut(EngineEvent<'_>)) {
        if let Some(start) = self.at_measure_start.filter(|_| interval.phase == Phase::Measure) {
            self.outcome.process = process_usage().since(start);
        }
        on_event(EngineEvent::Interval(interval));
    }
}

#[cfg(test)]
mod tests;
