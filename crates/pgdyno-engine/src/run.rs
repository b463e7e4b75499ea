//! One run: clients dealt over threads, intervals merged, an end in every case.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use pgdyno_measure::{Interval, Part, Phase, Totals, WorkerUsage};
use pgdyno_net::{ConnectError, ConnectOptions, Interrupter};
use pgdyno_wire::{SqlState, Statement};
use pgdyno_workload::{ClientContext, ClientId, ClientScript, Note, Rng, Workload};

use crate::backlog::Backlog;
use crate::connect::{ConnectFailed, connect_all};
use crate::errands::{self, CONNECTORS};
use crate::errors::ErrorSample;
use crate::fleet::{Fleet, numbered};
use crate::observer::Observer;
use crate::pacer::Pacer;
use crate::usage::{ProcessUsage, process_usage};
use crate::worker::{Channels, Errands, Report, Timing, Worker};
use crate::{Control, RunSpec};
use pgdyno_poll::Poller;

/// What the clients talk to.
#[derive(Clone, Copy)]
pub enum Backend<'a> {
    /// Nothing: scripts whose transactions send nothing.
    None,
    /// A server.
    Server(&'a ConnectOptions),
}

/// What happens in a run, as it happens.
#[derive(Debug)]
pub enum Event<'a> {
    /// All clients are connected and the first transactions begin.
    Started {
        /// How long connecting took.
        connect_ns: u64,
    },
    /// An interval ended.
    Interval(&'a Interval),
    /// A client lost its connection.
    Lost {
        /// What the system or the server said.
        why: &'a str,
    },
    /// A client could not open a connection for its transaction, and is given up.
    ConnectFailed {
        /// Its number.
        client: u32,
        /// What stood in the way.
        error: &'a ConnectError,
    },
    /// A script, or the server by a notice, wants the user to read this.
    Note(&'a Note),
}

/// Who hears of a run.
pub struct Audience<'a> {
    /// While clients connect: how many have. From any thread.
    pub on_connect: &'a (dyn Fn(usize) + Sync),
    /// What happens, as it happens, on the calling thread.
    pub on_event: &'a mut dyn FnMut(Event<'_>),
    /// Makes an observer of every transaction, for each engine thread; it is given the thread's number and the
    /// time of day, in nanoseconds since 1970, at which the run's time is 0.
    pub observer: &'a mut dyn FnMut(usize, u64) -> Option<Box<dyn Observer>>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As planned.
    Complete,
    /// Because it was asked to.
    Interrupted,
    /// Because no client had a connection left; what the last one was told.
    ServerLost(String),
    /// Because of an error that makes going on senseless, such as a full disk.
    Fatal(String),
}

/// What a run brought.
#[derive(Debug)]
pub struct RunOutcome {
    /// How it ended.
    pub ended: Ended,
    /// The warm-up.
    pub ramp: Totals,
    /// The measured window.
    pub measured: Totals,
    /// What ended after the window.
    pub drain: Totals,
    /// How long connecting all clients took.
    pub connect_ns: u64,
    /// Engine threads.
    pub threads: usize,
    /// Clients that were without a connection at the end.
    pub clients_lost: usize,
    /// Clients that were given up because none of their transactions could succeed.
    pub clients_aborted: usize,
    /// The engine thread of the first client that was given up before the end.
    pub first_aborted_on: Option<usize>,
    /// Transactions that were cancelled because they did not end in time.
    pub cancelled_in_flight: usize,
    /// Errors of the server by SQLSTATE, retried ones included.
    pub errors: BTreeMap<SqlState, ErrorSample>,
    /// CPU of the process within the measured window, and its memory.
    pub process: ProcessUsage,
}

impl RunOutcome {
    /// All phases, in order.
    #[must_use]
    pub fn phases(&self) -> [&Totals; 3] {
        [&self.ramp, &self.measured, &self.drain]
    }
}

/// Why a run could not take place.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Not all clients could connect.
    #[error(transparent)]
    Connect(#[from] ConnectFailed),
    /// The system gave no poller or no thread.
    #[error("failed to set up engine thread {index}")]
    Thread {
        /// Which thread.
        index: usize,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Connects the clients of `workload`, lets them run as `spec` says, and merges what they counted.
///
/// # Errors
/// When the run could not begin. What goes wrong later is part of the outcome.
pub fn run(
    workload: &dyn Workload,
    statements: Vec<Statement>,
    backend: Backend<'_>,
    spec: &RunSpec,
    control: &Control,
    audience: Audience<'_>,
) -> Result<RunOutcome, RunError> {
    let Audience { on_connect, on_event, observer } = audience;
    let begun = Instant::now();
    let clients = spec.clients as usize;
    // Whoever opens a connection ends with the run, however silent the server is.
    let opening = Interrupter::new();
    control.interrupts(&opening);
    let options = match backend {
        Backend::Server(options) => Some(options.interrupted_by(&opening)),
        Backend::None => None,
    };
    let connections = spec.connections.map(|shared| (shared as usize).clamp(1, clients.max(1)));
    let mut links: Vec<_> = match &options {
        Some(options) if !spec.rules.connect_each => {
            let (links, notes) = connect_all(options, connections.unwrap_or(clients), control, on_connect)?;
            notes.iter().for_each(|note| on_event(Event::Note(note)));
            links.into_iter().map(Some).collect()
        }
        _ => (0..connections.unwrap_or(clients)).map(|_| None).collect(),
    };
    let connect_ns = begun.elapsed().as_nanos() as u64;

    let threads = spec.threads.clamp(1, connections.unwrap_or(clients).max(1));
    let statements = numbered(statements);
    let txns = workload.txns().len();
    let (reports, inbox) = mpsc::channel();
    on_event(Event::Started { connect_ns });
    let timing = Timing {
        origin: Instant::now(),
        ramp_ns: spec.ramp_ns,
        measure_ns: spec.measure_ns,
        interval_ns: spec.interval_ns,
        grace_ns: spec.grace_ns,
        reconnect_ns: spec.reconnect_ns,
        seed: spec.seed,
    };
    let epoch_ns = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);

    let backlog = Arc::default();
    let outcome = std::thread::scope(|scope| {
        let mut first = 0;
        for index in 0..threads {
            let setup_failed = |source| {
                control.kill();
                RunError::Thread { index, source }
            };
            // In blocks, the remainder to the first threads, as pgbench deals them.
            let count = (clients - first).div_ceil(threads - index);
            let lines = links.len().div_ceil(threads - index);
            let scripts = (first..first + count).map(|i| client_script(workload, spec, i)).collect();
            let pacer = Pacer::new(spec.rate, index, threads, Rng::derive(spec.seed, "pacer", &[index as u64]));
            let mut fleet =
                Fleet::new(first as u32, scripts, spec.mode, Arc::clone(&statements), txns, spec.rules, pacer)
                    .speaking(spec.wire)
                    .tallying(workload.tallies().len())
                    .queueing_in(&backlog)
                    .observed_by(observer(index, epoch_ns));
            if connections.is_some() {
                fleet = fleet.sharing(lines);
            }
            let poller = Poller::new().map_err(setup_failed)?;
            let waker = poller.waker();
            control.register(waker.clone());
            let (connect, requests) = mpsc::channel();
            let (answer, answers) = mpsc::channel();
            if let (Some(options), true) = (&options, spec.reconnect_ns > 0 || spec.rules.connect_each) {
                let requests = Arc::new(Mutex::new(requests));
                for _ in 0..CONNECTORS.min(lines) {
                    let (requests, answer, waker) = (Arc::clone(&requests), answer.clone(), waker.clone());
                    let serve = move || errands::serve(options, &requests, &answer, &waker);
                    std::thread::Builder::new().spawn_scoped(scope, serve).map_err(setup_failed)?;
                }
            }
            let errands = Errands { connect, answer, answers, waker };
            let worker = Worker::new(
                index,
                fleet,
                links.drain(..lines).collect(),
                poller,
                timing,
                Channels { control, reports: reports.clone(), errands },
            );
            let cpu = spec.pin.get(index).copied();
            std::thread::Builder::new()
                .name(format!("pgdyno-{index}"))
                .spawn_scoped(scope, {
                    let reports = reports.clone();
                    move || run_to_the_end(worker, cpu, &reports)
                })
                .map_err(setup_failed)?;
            first += count;
        }
        drop(reports);
        let outcome =
            Coordinator::new(threads, timing, control, &backlog, spec.rules.stop_on_abort).collect(&inbox, on_event);
        // Nobody waits for those who are still at it.
        opening.interrupt();
        Ok(outcome)
    });
    control.forget();
    outcome.map(|outcome| RunOutcome { connect_ns, ..outcome })
}

/// Lets a worker run. One that panics is reported as an error of the run: what was measured before must not be lost, and
/// what was not measured after not be taken for a rest.
fn run_to_the_end(worker: Worker<'_>, cpu: Option<usize>, reports: &Sender<Report>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| worker.run(cpu))) {
        let why = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        // The coordinator listens until all workers are done.
        drop(reports.send(Report::Fatal(format!("thread {name} panicked: {}", why.unwrap_or("without a word")))));
    }
}

fn client_script(workload: &dyn Workload, spec: &RunSpec, index: usize) -> Box<dyn ClientScript> {
    workload.client(&ClientContext {
        id: ClientId(index as u32),
        clients: spec.clients,
        rng: Rng::derive(spec.seed, "client", &[index as u64]),
    })
}

/// An interval's place in the run: the phase in order, the number within the worker's count.
type Place = (u8, u64);

fn place(phase: Phase, index: u64) -> Place {
    (phase as u8, index)
}

/// An interval that is being merged.
struct Open {
    interval: Interval,
    /// Transactions in flight at its end, by worker; `None` where the worker did not close it.
    in_flight: Vec<Option<u64>>,
}

/// Merges what the workers hand over.
struct Coordinator<'a> {
    threads: usize,
    timing: Timing,
    control: &'a Control,
    backlog: &'a Backlog,
    /// Intervals that not all workers have passed yet.
    open: BTreeMap<Place, Open>,
    /// Up to where each worker has come. On an early end they need not close the same intervals.
    passed: Vec<Option<Place>>,
    /// Transactions in flight, by worker, at the end of the last interval that was closed.
    in_flight: Vec<u64>,
    at_measure_start: Option<ProcessUsage>,
    stop_on_abort: bool,
    outcome: RunOutcome,
    last_loss: Option<String>,
}

impl<'a> Coordinator<'a> {
    fn new(threads: usize, timing: Timing, control: &'a Control, backlog: &'a Backlog, stop_on_abort: bool) -> Self {
        let outcome = RunOutcome {
            ended: Ended::Complete,
            ramp: Totals::default(),
            measured: Totals::default(),
            drain: Totals::default(),
            connect_ns: 0,
            threads,
            clients_lost: 0,
            clients_aborted: 0,
            first_aborted_on: None,
            cancelled_in_flight: 0,
            errors: BTreeMap::new(),
            process: ProcessUsage::default(),
        };
        Self {
            threads,
            timing,
            control,
            backlog,
            open: BTreeMap::new(),
            passed: vec![None; threads],
            in_flight: vec![0; threads],
            at_measure_start: None,
            stop_on_abort,
            outcome,
            last_loss: None,
        }
    }

    fn collect(mut self, inbox: &Receiver<Report>, on_event: &mut dyn FnMut(Event<'_>)) -> RunOutcome {
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
            // Whether time or a report ended the wait: a worker whose clients are all silent has no other clock.
            if Instant::now() >= edge {
                self.control.wake();
                edge = self.next_edge();
            }
        }
        for open in std::mem::take(&mut self.open).into_values() {
            self.close(open, on_event);
        }
        let dropped: u64 = self.outcome.phases().iter().map(|totals| totals.part.notices_dropped).sum();
        if dropped > 0 {
            let why = "of the server came faster than they could be passed on, and were dropped";
            on_event(Event::Note(&Note::Info(format!("{dropped} notices {why}"))));
        }
        if self.outcome.ended == Ended::Complete {
            let clients_gone = self.outcome.clients_lost > 0 && self.cut_short();
            if let (true, Some(why)) = (clients_gone, self.last_loss.take()) {
                self.outcome.ended = Ended::ServerLost(why);
            } else if self.control.is_stopping() {
                self.outcome.ended = Ended::Interrupted;
            }
        }
        self.outcome
    }

    /// The next planned end of an interval.
    fn next_edge(&self) -> Instant {
        self.timing.origin + Duration::from_nanos(self.timing.next_edge(self.timing.origin.elapsed()))
    }

    /// Whether the measured window ended before its time.
    fn cut_short(&self) -> bool {
        let planned = self.timing.measure_ns.map_or(u64::MAX, |ns| self.timing.ramp_ns.saturating_add(ns));
        self.outcome.measured.end_ns < planned
    }

    fn take(&mut self, report: Report, on_event: &mut dyn FnMut(Event<'_>)) {
        match report {
            Report::Part { worker, index, phase, start, end, part, usage, in_flight } => {
                let threads = self.threads;
                let open = self.open.entry(place(phase, index)).or_insert_with(|| {
                    let workers = vec![WorkerUsage::default(); threads];
                    let interval = Interval {
                        index,
                        phase,
                        start_ns: start.0,
                        end_ns: end.0,
                        part: Part::default(),
                        in_flight: 0,
                        workers,
                    };
                    Open { interval, in_flight: vec![None; threads] }
                });
                open.interval.end_ns = open.interval.end_ns.max(end.0);
                open.interval.part.merge(&part);
                open.interval.workers[worker].add(usage);
                open.in_flight[worker] = Some(in_flight);
                self.passed[worker] = Some(place(phase, index));
                let all_passed = self.passed.iter().copied().min().flatten();
                while let Some(entry) = self.open.first_entry().filter(|entry| Some(*entry.key()) <= all_passed) {
                    let open = entry.remove();
                    self.close(open, on_event);
                }
            }
            Report::Lost { why } => {
                on_event(Event::Lost { why: &why });
                self.last_loss = Some(why);
            }
            Report::ConnectFailed { client, error } => on_event(Event::ConnectFailed { client, error: &error }),
            Report::Notes { notes, notice_bytes } => {
                notes.iter().for_each(|note| on_event(Event::Note(note)));
                self.backlog.release(notice_bytes);
            }
            Report::Aborted { worker } => {
                self.outcome.first_aborted_on.get_or_insert(worker);
                if self.stop_on_abort {
                    self.control.kill();
                }
            }
            Report::Fatal(why) => {
                if self.outcome.ended == Ended::Complete {
                    self.outcome.ended = Ended::Fatal(why);
                }
                self.control.stop();
            }
            Report::Done { errors, unfinished, aborted, lost } => {
                for (code, sample) in errors {
                    let known = self
                        .outcome
                        .errors
                        .entry(code)
                        .or_insert_with(|| ErrorSample { count: 0, message: sample.message });
                    known.count += sample.count;
                }
                self.outcome.cancelled_in_flight += unfinished;
                self.outcome.clients_aborted += aborted;
                self.outcome.clients_lost += lost;
            }
        }
    }

    fn close(&mut self, Open { mut interval, in_flight }: Open, on_event: &mut dyn FnMut(Event<'_>)) {
        let before = self.in_flight.iter().sum();
        for (mine, closed) in self.in_flight.iter_mut().zip(in_flight) {
            *mine = closed.unwrap_or(*mine);
        }
        interval.in_flight = self.in_flight.iter().sum();
        let totals = match interval.phase {
            Phase::Ramp => &mut self.outcome.ramp,
            Phase::Measure => {
                if let Some(start) = self.at_measure_start {
                    self.outcome.process = process_usage().since(start);
                }
                &mut self.outcome.measured
            }
            Phase::Drain => &mut self.outcome.drain,
        };
        totals.add(&interval, before);
        on_event(Event::Interval(&interval));
    }
}
