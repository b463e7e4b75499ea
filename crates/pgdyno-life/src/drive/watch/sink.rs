//! Where all samples go: into the run directory, and to the view.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pgdyno_results::SampleFiles;
use pgdyno_server::Frame;

use crate::events::{Event, EventSink};

/// Takes frames from any thread. What was seen before the clients began is kept until that moment is known.
pub(crate) struct Sink<'a> {
    events: &'a dyn EventSink,
    state: Mutex<State>,
}

struct State {
    files: SampleFiles,
    started: Option<Instant>,
    early: Vec<Frame>,
    sources: BTreeSet<&'static str>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(events: &'a dyn EventSink, directory: &Path) -> Self {
        let files = SampleFiles::of_run(directory);
        let state = State { files, started: None, early: Vec::new(), sources: BTreeSet::new() };
        Self { events, state: Mutex::new(state) }
    }

    /// Takes what one look has brought.
    pub(crate) fn take(&self, frame: Frame) {
        let mut state = self.lock();
        match state.started {
            Some(started) => self.pass_on(&mut state, started, &frame),
            None => state.early.push(frame),
        }
    }

    /// The clients have begun.
    pub(super) fn started(&self, at: Instant) {
        let mut state = self.lock();
        state.started = Some(at);
        for frame in std::mem::take(&mut state.early) {
            self.pass_on(&mut state, at, &frame);
        }
    }

    fn pass_on(&self, state: &mut State, started: Instant, frame: &Frame) {
        let at_s = seconds(started, frame.at);
        if !frame.rows.is_empty() {
            state.sources.insert(frame.source);
        }
        state.files.append(frame.source, at_s, frame.columns, &frame.rows);
        self.events.event(&Event::Sample { at_s, frame });
    }

    /// A moment in seconds since the clients began; none where they never did.
    pub(crate) fn at_s(&self, at: Instant) -> Option<f64> {
        self.lock().started.map(|started| seconds(started, at))
    }

    /// The sources of which there are samples.
    pub(super) fn sources(&self) -> Vec<String> {
        self.lock().sources.iter().map(|source| (*source).to_owned()).collect()
    }

    /// Why samples could not be written, if so.
    pub(super) fn failure(&self) -> Option<String> {
        self.lock().files.failure().map(str::to_owned)
    }

    /// Writes a text beside the samples, and returns where it stands in the run directory.
    pub(super) fn keep(&self, name: &str, text: &str) -> String {
        self.lock().files.keep(name, text)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// From `started` to `at`: negative where that was before.
fn seconds(started: Instant, at: Instant) -> f64 {
    match at.checked_duration_since(started) {
        Some(after) => after.as_secs_f64(),
        None => -started.duration_since(at).as_secs_f64(),
    }
}
