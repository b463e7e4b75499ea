//! Receives the engine's events while the clients run: samples the server's counters, and informs watchers, view and record.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use pgdyno_engine::EngineEvent;
use pgdyno_measure::{Interval, Phase};
use pgdyno_net::AttemptClass;
use pgdyno_plan::Plan;
use pgdyno_server::ServerIdentity;
use pgdyno_workload::Note;

use super::ReaderDriven;
use super::endpoints::Endpoints;
use super::executions::Executions;
use super::faults::Faults;
use super::notices::Notices;
use super::samples::Samples;
use super::staleness::{Measured, Staleness};
use super::watch::{Watch, Watched};
use crate::events;
use crate::run::context::RunContext;

/// The receiver of the engine's events in one run.
pub(super) struct Listener<'a, 'e, 'scope> {
    pub(super) context: &'a RunContext<'a>,
    pub(super) plan: &'a Plan,
    /// The server of pgdyno's own sessions, if it says which one it is.
    pub(super) identity: Option<&'a ServerIdentity>,
    /// Executions of large queries, if there are any.
    pub(super) executions: &'e RefCell<Option<Executions>>,
    /// The watchers, if the server is watched.
    pub(super) watch: Option<Watch<'scope>>,
    /// The faults, if there are any.
    pub(super) faults: Option<Faults<'scope>>,
    /// How far readers are behind, if there are any.
    pub(super) staleness: Option<Staleness<'scope>>,
    /// By reader, the servers that its clients are on.
    pub(super) of_readers: Vec<Endpoints>,
    pub(super) samples: Samples<'a>,
    pub(super) notices: Notices,
    /// Connections of clients that said which server they are on: each is a transaction of the server.
    pub(super) probes: u64,
    /// Attempts to open lost connections again that failed, by class.
    pub(super) failed_attempts: BTreeMap<AttemptClass, u64>,
}

/// What the listener has at the end.
pub(super) struct Listened<'a> {
    /// Samples of the counters.
    pub(super) samples: Samples<'a>,
    /// Notices of the server.
    pub(super) notices: Notices,
    /// Transactions of the server for probes and markers.
    pub(super) probes: u64,
    pub(super) watched: Option<Watched>,
    /// What was found about each reader.
    pub(super) readers: Vec<ReaderDriven>,
}

/// Returns what was found about a reader.
fn found((endpoints, staleness): (Endpoints, Measured)) -> ReaderDriven {
    ReaderDriven { clients: endpoints.clients(), endpoints: endpoints.records_of_several(), staleness }
}

impl<'a> Listener<'a, '_, '_> {
    /// Receives an event.
    pub(super) fn event(&mut self, event: EngineEvent<'_>) {
        let events = self.context.events;
        match event {
            EngineEvent::Connected if self.has_no_ramp() => self.samples.open(self.watch.as_ref()),
            EngineEvent::Connected => {}
            EngineEvent::Started { answers, of_readers, .. } => {
                self.started(answers);
                self.readers_started(of_readers);
            }
            EngineEvent::Interval(interval) => self.interval(interval),
            EngineEvent::Lost { why } => {
                self.faults.iter().for_each(Faults::lost);
                events.note(&format!("a client lost its connection: {why}"));
            }
            EngineEvent::ConnectFailed { error, .. } => {
                self.faults.iter().for_each(Faults::lost);
                events.note(&format!("a client could not connect: {error}"));
            }
            EngineEvent::NotReopened { error } => {
                for class in error.attempts() {
                    *self.failed_attempts.entry(class).or_default() += 1;
                }
            }
            EngineEvent::Note(Note::Notice(message)) => self.notices.take(message, events),
            EngineEvent::Note(note) => events.note(&note.text()),
        }
    }

    /// Ends the measured window if no interval has ended it, the faults and the watchers.
    pub(super) fn end(mut self) -> Listened<'a> {
        self.samples.close(self.watch.as_ref());
        let (staleness, markers) = self.staleness.take().map(Staleness::end).unwrap_or_default();
        let failed = self.failed_attempts.iter().map(|(class, number)| (class.name().to_owned(), *number)).collect();
        self.context.record.edit(|recording| recording.record.failed_attempts = failed);
        if let Some((faults, events)) = self.faults.take().map(Faults::end) {
            self.context.record.edit(|recording| {
                recording.record.faults = faults;
                recording.record.events.extend(events);
            });
        }
        Listened {
            samples: self.samples,
            notices: self.notices,
            probes: self.probes + markers,
            watched: self.watch.map(Watch::end),
            readers: self.of_readers.into_iter().zip(staleness).map(found).collect(),
        }
    }

    fn has_no_ramp(&self) -> bool {
        self.plan.window().0 <= 0.0
    }

    /// The clients start: leaves the server's figures out if they are not all on the sampled server.
    fn started(&mut self, answers: &[Vec<Option<String>>]) {
        self.probes = answers.len() as u64;
        let endpoints = Endpoints::of(answers);
        let server = self.identity;
        let sampled = self.watch.as_ref().and_then(Watch::server_started);
        let own = server.map(|server| server.started.as_str()).into_iter().chain(self.samples.started()).chain(sampled);
        let name = server.map_or_else(|| "one of them".to_owned(), ToString::to_string);
        if let Some(warning) = endpoints.warning(&name, &own.collect::<Vec<_>>()) {
            let context = self.context;
            context.events.warn(&warning);
            context.record.edit(|recording| {
                if let Some(server) = &mut recording.record.server {
                    server.endpoints = endpoints.records();
                }
            });
            self.watch.iter_mut().for_each(Watch::leave_server_out);
            self.samples.leave_out();
        }
        self.faults.iter().for_each(|faults| faults.started(Instant::now()));
        self.watch.iter().for_each(Watch::started);
        if self.has_no_ramp() {
            self.samples.open(self.watch.as_ref());
        }
    }

    /// The clients start: warns where a reader leads to several servers.
    fn readers_started(&mut self, answers: &[Vec<Vec<Option<String>>>]) {
        self.of_readers = answers.iter().map(|answers| Endpoints::of(answers)).collect();
        for (endpoints, name) in self.of_readers.iter().zip(&self.plan.drive.readers) {
            if let Some(warning) = endpoints.several(name) {
                self.context.events.warn(&warning);
            }
        }
        if self.has_no_ramp() {
            self.staleness.iter().for_each(Staleness::open);
        }
    }

    /// Opens and closes the window in which markers are written.
    fn note_window(&self, interval: &Interval) {
        let Some(staleness) = &self.staleness else { return };
        let (ramp_s, time_s) = self.plan.window();
        let end_s = interval.end_ns as f64 / 1e9;
        let is_in = end_s >= ramp_s && time_s.is_none_or(|time_s| end_s < ramp_s + time_s);
        if is_in && interval.phase != Phase::Drain { staleness.open() } else { staleness.close() }
    }

    fn interval(&mut self, interval: &Interval) {
        self.samples.look_in();
        self.note_window(interval);
        let watch = self.watch.as_ref();
        let (ramp_s, time_s) = self.plan.window();
        let (end_ns, ramp_ns) = (interval.end_ns as f64, ramp_s * 1e9);
        match interval.phase {
            Phase::Ramp if end_ns >= ramp_ns => self.samples.open(watch),
            Phase::Ramp => {}
            Phase::Measure if time_s.is_some_and(|time_s| end_ns >= ramp_ns + time_s * 1e9) => {
                self.samples.close(watch)
            }
            Phase::Measure => self.samples.go_on(),
            Phase::Drain => self.samples.close(watch),
        }
        self.faults.iter().for_each(|faults| faults.interval(interval));
        self.watch.iter().for_each(|watch| watch.interval(interval));
        self.context.events.event(&events::RunEvent::Interval { interval });
        self.executions.borrow_mut().iter_mut().for_each(|executions| executions.interval(interval));
    }
}
