//! Server and machines are watched while the clients are at work.
//!
//! Each watcher is a thread that takes [`Signal`]s and hands what it sees to one [`Sink`]: [`statistics`] looks at the
//! server's own views, [`machine`] at the machines. A watcher that cannot see says so in the end, and never ends a run.

mod machine;
mod sink;
mod statistics;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

use pgdyno_net::ConnectOptions;
use pgdyno_plan::{TargetFacts, WatchOrder, WatchPlan};
use pgdyno_results::{EventRecord, LeftOutRecord, MachineRecord, RunRecord, SamplesRecord};
use pgdyno_server::os::{Machines, OsMetrics};
use pgdyno_server::stat::{LeftOut, Sampled, Sampler, Wishes};

pub(crate) use sink::Sink;

use self::machine::Watcher;
use crate::events::EventSink;
use crate::target::Named;

/// Returns how the server's machine is read, where the order or the target says so.
pub(crate) fn os_metrics(order: &WatchOrder, target: Option<&Named>) -> Option<OsMetrics> {
    let entry = target.map(|named| &named.entry);
    let how = order.os_metrics.as_ref().or(entry.and_then(|entry| entry.os_metrics.as_ref()))?;
    let cpus = entry.and_then(|entry| entry.vcpus).map(f64::from);
    (!order.no_samples).then(|| OsMetrics::parse(how, cpus))
}

/// Returns the plan of what is sampled.
pub(crate) fn planned(order: &WatchOrder, target: &TargetFacts) -> WatchPlan {
    let asked = order.os_metrics.as_ref().map(|how| OsMetrics::parse(how, None).name());
    let os = asked.or_else(|| target.os.clone()).filter(|_| !order.no_samples);
    WatchPlan { off: order.no_samples, os, statement_plans: order.statement_plans.unwrap_or_default() }
}

/// What is watched, how, and who hears of it.
pub(crate) struct Subject<'a> {
    pub(crate) options: &'a ConnectOptions,
    pub(crate) plan: &'a WatchPlan,
    pub(crate) events: &'a dyn EventSink,
    /// The run directory.
    pub(crate) directory: PathBuf,
    pub(crate) machines: Machines,
    /// Whether the server is a private one, in whose database extensions may be made.
    pub(crate) is_private: bool,
    /// Whether it spreads tables over nodes, of which it is one.
    pub(crate) is_distributed: bool,
    /// Whether a pooler hands out its connections transaction by transaction.
    pub(crate) is_pooled: bool,
}

impl Subject<'_> {
    fn wishes(&self) -> Wishes {
        Wishes { plans: self.plan.statement_plans as usize, owns_database: self.is_private, is_pooled: self.is_pooled }
    }
}

/// What a watcher is told, as it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The measured window has opened.
    WindowOpens(Instant),
    /// It has closed.
    WindowCloses(Instant),
    /// It is over. A watcher whose signals end without a word is over, too.
    End,
}

/// The watchers at work. They end with it.
pub(crate) struct Watch<'scope> {
    sink: Arc<Sink<'scope>>,
    begun: Instant,
    is_distributed: bool,
    signals: Vec<Sender<Signal>>,
    statistics: ScopedJoinHandle<'scope, Sampled>,
    machines: ScopedJoinHandle<'scope, machine::Seen>,
}

/// What the watchers have seen, but for the samples themselves, which stand in the run directory.
pub(crate) struct Watched {
    pub(crate) samples: SamplesRecord,
    /// What happened to the statistics, the server or the clock.
    pub(crate) events: Vec<EventRecord>,
    /// The server's machine in the measured window.
    pub(crate) server_machine: Option<MachineRecord>,
    /// The driver's, where it is another one.
    pub(crate) client_machine: Option<MachineRecord>,
    /// Transactions that the server has counted for the looks at it.
    pub(crate) transactions: u64,
    /// Why samples could not be kept, where the disk did not take them.
    pub(crate) trouble: Option<String>,
}

impl<'scope> Watch<'scope> {
    /// Begins to watch, before the clients connect.
    pub(crate) fn begin<'env>(scope: &'scope Scope<'scope, 'env>, subject: &Subject<'env>) -> Self {
        let sink = Arc::new(Sink::new(subject.events, &subject.directory));
        let (statistics_signals, inbox) = mpsc::channel();
        let statistics = {
            // Before the clients take all the connections that there are.
            let (sink, sampler) = (Arc::clone(&sink), Sampler::begin(subject.options, subject.wishes()));
            scope.spawn(move || statistics::watch(sampler, &sink, &inbox))
        };
        let (machine_signals, inbox) = mpsc::channel();
        let machines = {
            let (sink, watcher) = (Arc::clone(&sink), Watcher::begin(subject.machines.clone()));
            scope.spawn(move || watcher.watch(&sink, &inbox))
        };
        let signals = vec![statistics_signals, machine_signals];
        let is_distributed = subject.is_distributed;
        Self { sink, begun: Instant::now(), is_distributed, signals, statistics, machines }
    }

    /// The clients begin: moments are counted from now on.
    pub(crate) fn started(&self) {
        self.sink.started(Instant::now());
    }

    /// The measured window opens.
    pub(crate) fn window_opens(&self) {
        self.tell(Signal::WindowOpens(Instant::now()));
    }

    /// It closes.
    pub(crate) fn window_closes(&self) {
        self.tell(Signal::WindowCloses(Instant::now()));
    }

    fn tell(&self, signal: Signal) {
        for signals in &self.signals {
            // A watcher that has ended before hears of nothing more.
            let _ = signals.send(signal);
        }
    }

    /// Ends all watchers.
    pub(crate) fn end(self) -> Watched {
        self.tell(Signal::End);
        let sampled = self.statistics.join().unwrap_or_default();
        let machines = self.machines.join().unwrap_or_default();
        let at_s = |at| self.sink.at_s(at).unwrap_or_default();
        let notices = sampled.notices.iter().map(|notice| EventRecord {
            kind: notice.kind.to_owned(),
            text: notice.text.clone(),
            from_s: at_s(notice.at),
            until_s: notice.until.map(at_s),
        });
        let events: Vec<_> = notices.collect();
        let left_out = |out: LeftOut| LeftOutRecord { source: out.source.to_owned(), why: out.why };
        let mut left_out: Vec<_> = sampled.left_out.into_iter().map(left_out).chain(machines.left_out).collect();
        if self.is_distributed {
            let why = "only the node that the clients connect to is looked at, and its counters are not those of all";
            left_out.push(LeftOutRecord { source: "other nodes".to_owned(), why: why.to_owned() });
        }
        let plans = sampled.plans.map(|plans| self.sink.keep("plans.txt", &plans));
        let samples = SamplesRecord {
            sources: self.sink.sources(),
            left_out,
            notes: events.iter().map(|event| format!("at {:.1} s: {}", event.from_s, event.text)).collect(),
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
            transactions: sampled.transactions,
            trouble: self.sink.failure(),
        }
    }
}

/// Puts into the record what was seen, and says at once what a reader of it must know.
pub(crate) fn note(watched: Watched, record: &mut RunRecord, events: &dyn EventSink) {
    let warnings = watched.samples.notes.iter().cloned().chain(watched.trouble);
    for warning in warnings {
        events.warn(&warning);
        record.warnings.push(warning);
    }
    record.events.extend(watched.events);
    record.server_machine = watched.server_machine;
    record.client_machine = watched.client_machine;
    record.samples = Some(watched.samples);
}
