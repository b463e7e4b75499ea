//! The one receiver of all samples. Passes them to the run directory and to the view.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pgdyno_results::SampleFiles;
use pgdyno_server::Frame;
use pgdyno_server::os::{DRIVER_MACHINE, DRIVER_PROCESSES};

use crate::events::{EventSink, RunEvent};

/// Takes frames from any thread. Keeps frames that come before the clients start until the time of the start is known.
pub(crate) struct Sink<'a> {
    events: &'a dyn EventSink,
    state: Mutex<State>,
}

struct State {
    files: SampleFiles,
    started: Option<Instant>,
    early: Vec<Frame>,
    sources: BTreeSet<&'static str>,
    /// Whether only samples of the driver are taken.
    is_server_left_out: bool,
}

impl<'a> Sink<'a> {
    pub(super) fn new(events: &'a dyn EventSink, directory: &Path) -> Self {
        let files = SampleFiles::of_run(directory);
        let state =
            State { files, started: None, early: Vec::new(), sources: BTreeSet::new(), is_server_left_out: false };
        Self { events, state: Mutex::new(state) }
    }

    /// Takes the frames of one sample.
    pub(crate) fn take(&self, frame: Frame) {
        let mut state = self.lock();
        if state.is_server_left_out && ![DRIVER_MACHINE, DRIVER_PROCESSES].contains(&frame.source) {
            return;
        }
        match state.started {
            Some(started) => self.pass_on(&mut state, started, &frame),
            None => state.early.push(frame),
        }
    }

    /// Takes no samples of the server from now on, and forgets those from before the clients start.
    pub(super) fn leave_server_out(&self) {
        let mut state = self.lock();
        state.is_server_left_out = true;
        state.early.clear();
    }

    /// Sets the time at which the clients start.
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
        self.events.event(&RunEvent::Sample { at_s, frame });
    }

    /// Returns a time in seconds since the clients started; `None` if they never did.
    pub(crate) fn at_s(&self, at: Instant) -> Option<f64> {
        self.lock().started.map(|started| seconds(started, at))
    }

    /// Returns the sources that have samples.
    pub(super) fn sources(&self) -> Vec<String> {
        self.lock().sources.iter().map(|source| (*source).to_owned()).collect()
    }

    /// Returns why samples could not be written, if that failed.
    pub(super) fn failure(&self) -> Option<String> {
        self.lock().files.failure().map(str::to_owned)
    }

    /// Writes a text beside the samples, and returns its path in the run directory.
    pub(super) fn keep(&self, name: &str, text: &str) -> String {
        self.lock().files.keep(name, text)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the seconds from `started` to `at`; negative if `at` was earlier.
fn seconds(started: Instant, at: Instant) -> f64 {
    match at.checked_duration_since(started) {
        Some(after) => after.as_secs_f64(),
        None => -started.duration_since(at).as_secs_f64(),
    }
}
