//! Watches server and machines while the clients run.
//!
//! Each watcher is a thread that takes [`Signal`]s and passes its samples to one [`Sink`]: [`statistics`] reads the
//! server's views, [`machine`] the machines. [`memory`] keeps the peaks of sessions that run queries. A watcher that cannot read reports that at the end, and never ends a run.

mod machine;
pub(crate) mod memory;
mod perf_cost;
pub(crate) mod profile;
mod sink;
mod statistics;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

use pgdyno_measure::Interval;
use pgdyno_measure::pauses::Cost;
use pgdyno_net::ConnectOptions;
use pgdyno_plan::{WatchOrder, WatchPlan};
use pgdyno_results::{EventRecord, LeftOutRecord, MachineRecord, RunRecord, SamplesRecord};
use pgdyno_server::ServerIdentity;
use pgdyno_server::os::perf::{Perf, Stacks};
use pgdyno_server::os::{BackendMemory, Machines, OsMetrics};
use pgdyno_server::stat::{Sampled, Sampler, SamplerOptions, UnsampledSource};

pub(crate) use sink::Sink;

use self::machine::Watcher;
use self::memory::Peaks;
use self::perf_cost::Pauses;
use crate::events::EventSink;
use crate::run::context::RunContext;
use crate::target::Named;

/// Returns how the server's machine is read, if the order or the target says so.
pub(crate) fn os_metrics(order: &WatchOrder, target: Option<&Named>) -> Option<OsMetrics> {
    let entry = target.map(|named| &named.entry);
    let how = order.os_metrics.as_ref().or(entry.and_then(|entry| entry.os_metrics.as_ref()))?;
    let cpus = entry.and_then(|entry| entry.vcpus).map(f64::from);
    (!order.no_samples).then(|| OsMetrics::parse(how, cpus))
}

/// What is watched, how, and where the samples go.
pub(crate) struct Subject<'a> {
    pub(crate) options: &'a ConnectOptions,
    pub(crate) plan: &'a WatchPlan,
    pub(crate) events: &'a dyn EventSink,
    /// The run directory.
    pub(crate) directory: PathBuf,
    pub(crate) machines: Machines,
    /// Receives the memory of the sessions that run queries, if any do.
    pub(crate) peaks: Option<Arc<Peaks>>,
    /// Whether the server is a private one, in whose database extensions may be created.
    pub(crate) is_private: bool,
    /// Whether the server is a node of a cluster that spreads tables over nodes.
    pub(crate) is_distributed: bool,
    /// Whether a pooler assigns connections per transaction.
    pub(crate) is_pooled: bool,
    /// The workload's own tables.
    pub(crate) tables: Vec<String>,
    /// The server to sample, of those that the options may lead to.
    pub(crate) server: Option<ServerIdentity>,
}

/// Sessions that are opened until one is on the server to sample.
const ATTEMPTS: u32 = 8;

impl Subject<'_> {
    /// Begins to sample the server of pgdyno's own session, if one of several attempts leads there.
    fn sampler(&self) -> Sampler {
        let mut sampler = Sampler::begin(self.options, self.sampler_options());
        for _ in 1..ATTEMPTS {
            let wanted = self.server.as_ref().map(|server| server.started.as_str());
            if wanted.zip(sampler.started()).is_none_or(|(wanted, found)| wanted == found) {
                break;
            }
            sampler = Sampler::begin(self.options, self.sampler_options());
        }
        sampler
    }

    fn sampler_options(&self) -> SamplerOptions {
        SamplerOptions {
            plans: self.plan.statement_plans as usize,
            owns_database: self.is_private,
            is_pooled: self.is_pooled,
            tables: self.tables.clone(),
        }
    }
}

/// A message to a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The measured window starts.
    WindowOpens(Instant),
    /// The measured window ends.
    WindowCloses(Instant),
    /// The run is over. A watcher whose channel is closed ends, too.
    End,
}

/// The running watchers. Dropping this ends them.
pub(crate) struct Watch<'scope> {
    sink: Arc<Sink<'scope>>,
    begun: Instant,
    is_distributed: bool,
    signals: Vec<Sender<Signal>>,
    statistics: ScopedJoinHandle<'scope, Sampled>,
    machines: ScopedJoinHandle<'scope, machine::MachineMeans>,
    memory: Option<ScopedJoinHandle<'scope, ()>>,
    /// The profiler, if it was asked for; an error says why there is none.
    perf: Option<std::result::Result<Perf, String>>,
    pauses: Pauses,
    /// When the sampled server was started.
    server_started: Option<String>,
    /// Whether the server is left out, for it is not that of all clients.
    is_server_left_out: bool,
}

/// The results of the watchers without the samples, which are in the run directory.
pub(crate) struct Watched {
    pub(crate) samples: SamplesRecord,
    /// Resets of statistics, restarts of the server and jumps of its clock.
    pub(crate) events: Vec<EventRecord>,
    /// The server's machine in the measured window.
    pub(crate) server_machine: Option<MachineRecord>,
    /// The driver's machine, if it is a different one.
    pub(crate) client_machine: Option<MachineRecord>,
    /// Call stacks of the server's processes, if there is a profile.
    pub(crate) stacks: Stacks,
    /// What perf cost, if the window was long enough to find out.
    pub(crate) perf_cost: Option<Cost>,
    /// Transactions of the watchers that the server has counted.
    pub(crate) transactions: u64,
    /// Why samples could not be written, if the disk failed.
    pub(crate) write_error: Option<String>,
}

impl<'scope> Watch<'scope> {
    /// Starts the watchers, before the clients connect.
    pub(crate) fn begin<'env>(scope: &'scope Scope<'scope, 'env>, subject: &Subject<'env>) -> Self {
        let sink = Arc::new(Sink::new(subject.events, &subject.directory));
        let (statistics_signals, inbox) = mpsc::channel();
        // Connects before the clients take all available connections.
        let sampler = subject.sampler();
        let server_started = sampler.started().map(str::to_owned);
        let statistics = {
            let sink = Arc::clone(&sink);
            scope.spawn(move || statistics::watch(sampler, &sink, &inbox))
        };
        let (machine_signals, inbox) = mpsc::channel();
        let machines = {
            let (sink, watcher) = (Arc::clone(&sink), Watcher::begin(subject.machines.clone()));
            scope.spawn(move || watcher.watch(&sink, &inbox))
        };
        let mut signals = vec![statistics_signals, machine_signals];
        let visible = subject.machines.session.as_ref().filter(|_| subject.machines.local).and_then(BackendMemory::of);
        let memory = visible.zip(subject.peaks.clone()).map(|(memory, peaks)| {
            let (memory_signals, inbox) = mpsc::channel();
            signals.push(memory_signals);
            scope.spawn(move || memory::watch(memory, &peaks, &inbox))
        });
        let perf = subject.plan.perf.then(|| profile::begin(subject.options, subject.is_pooled, &subject.directory));
        let is_distributed = subject.is_distributed;
        Self {
            sink,
            begun: Instant::now(),
            is_distributed,
            signals,
            statistics,
            machines,
            memory,
            perf,
            pauses: Pauses::default(),
            server_started,
            is_server_left_out: false,
        }
    }

    /// Returns when the sampled server was started, in the form of [`pgdyno_server::ServerIdentity`].
    pub(crate) fn server_started(&self) -> Option<&str> {
        self.server_started.as_deref()
    }

    /// Leaves out everything about the server, from before the clients start: it is not that of all clients.
    pub(crate) fn leave_server_out(&mut self) {
        self.is_server_left_out = true;
        self.sink.leave_server_out();
        if let Some(statistics) = self.signals.first() {
            let _ = statistics.send(Signal::End);
        }
    }

    /// Marks the start of the clients: times are relative to it.
    pub(crate) fn started(&self) {
        self.sink.started(Instant::now());
    }

    /// Marks the start of the measured window.
    pub(crate) fn window_opens(&self) {
        if let Some(Ok(perf)) = &self.perf {
            perf.window_opens();
        }
        self.send(Signal::WindowOpens(Instant::now()));
    }

    /// Marks its end.
    pub(crate) fn window_closes(&self) {
        if let Some(Ok(perf)) = &self.perf {
            perf.window_closes();
        }
        self.send(Signal::WindowCloses(Instant::now()));
    }

    /// Takes an interval that has ended.
    pub(crate) fn interval(&self, interval: &Interval) {
        if let Some(Ok(perf)) = &self.perf {
            self.pauses.interval(interval, perf);
        }
    }

    fn send(&self, signal: Signal) {
        for signals in &self.signals {
            // A watcher that has already ended takes no signals.
            let _ = signals.send(signal);
        }
    }

    /// Ends all watchers.
    pub(crate) fn end(self) -> Watched {
        self.send(Signal::End);
        let mut sampled = self.statistics.join().unwrap_or_default();
        let mut machines = self.machines.join().unwrap_or_default();
        if self.is_server_left_out {
            (sampled.notices, sampled.plans, machines.server) = (Vec::new(), None, None);
            sampled.left_out = vec![UnsampledSource {
                source: "all statistics",
                why: "the clients are not all on the sampled server".to_owned(),
            }];
        }
        // Its panic was reported.
        drop(self.memory.map(ScopedJoinHandle::join));
        let at_s = |at| self.sink.at_s(at).unwrap_or_default();
        let notices = sampled.notices.iter().map(|notice| EventRecord {
            kind: notice.kind.to_owned(),
            text: notice.text.clone(),
            from_s: at_s(notice.at),
            until_s: notice.until.map(at_s),
        });
        let events: Vec<_> = notices.collect();
        let left_out = |out: UnsampledSource| LeftOutRecord { source: out.source.to_owned(), why: out.why };
        let mut left_out: Vec<_> = sampled.left_out.into_iter().map(left_out).chain(machines.left_out).collect();
        if self.is_distributed {
            let why = "only the node that the clients connect to is sampled; its counters leave out the other nodes";
            left_out.push(LeftOutRecord { source: "other nodes".to_owned(), why: why.to_owned() });
        }
        let stacks = match self.perf.map(|perf| perf.and_then(Perf::end)) {
            None => Stacks::new(),
            Some(Ok(_)) if self.is_server_left_out => Stacks::new(),
            Some(Ok(stacks)) => stacks,
            Some(Err(why)) => {
                left_out.push(LeftOutRecord { source: "perf".to_owned(), why });
                Stacks::new()
            }
        };
        let plans = sampled.plans.map(|plans| self.sink.keep("plans.txt", &plans));
        let samples = SamplesRecord {
            sources: self.sink.sources(),
            left_out,
            notes: events.iter().map(|event| format!("at {:.1} s {}", event.from_s, event.text)).collect(),
            queries: sampled.queries,
            query_s: sampled.waited.as_secs_f64(),
            plans,
            server_cpu_s: sampled.cpu.map(|cpu| cpu.as_secs_f64()),
            watched_s: self.begun.elapsed().as_secs_f64(),
        };
        Watched {
            samples,
            events,
            server_machine: machines.server,
            client_machine: machines.driver,
            stacks,
            perf_cost: self.pauses.cost(),
            transactions: sampled.transactions,
            write_error: self.sink.failure(),
        }
    }
}

/// Adds the results to the record, and immediately reports what affects the figures.
pub(crate) fn note(watched: Watched, context: &RunContext<'_>) {
    let directory = context.record.path();
    let mut warnings = Vec::new();
    context.record.edit(|recording| warnings = add(watched, &mut recording.record, &directory));
    warnings.iter().for_each(|warning| context.events.warn(warning));
}

/// Adds the results to the record. Returns what affects the figures.
fn add(watched: Watched, record: &mut RunRecord, directory: &Path) -> Vec<String> {
    let without_profile = watched.samples.left_out.iter().find(|left_out| left_out.source == "perf");
    let without_profile = without_profile.map(|left_out| format!("the server has no profile: {}", left_out.why));
    let unwritten = profile::keep(&watched.stacks, watched.perf_cost, record, directory).err();
    let cost = record.profile.as_ref().map(|_| profile::disturbance(watched.perf_cost));
    let notes = watched.samples.notes.iter().cloned();
    let warnings = notes.chain(watched.write_error).chain(without_profile).chain(unwritten).chain(cost).collect();
    record.events.extend(watched.events);
    record.server_machine = watched.server_machine;
    record.client_machine = watched.client_machine;
    record.samples = Some(watched.samples);
    warnings
}
