//! The data of the full-screen view: pure, time is an argument.
//!
//! [`Model`] receives events. [`facts`] never change, [`progress`] is the state of the run, [`series`] its throughput
//! over time, [`totals`] its figures, and [`frames`] the latest samples, from which [`waits`], [`machines`] and
//! [`server`] are computed. [`messages`] has the messages.

#[cfg(test)]
pub(crate) mod example;
pub(crate) mod facts;
pub(crate) mod frames;
pub(crate) mod machines;
pub(crate) mod messages;
pub(crate) mod progress;
pub(crate) mod series;
pub(crate) mod server;
#[cfg(test)]
mod tests;
pub(crate) mod totals;
pub(crate) mod waits;

use pgdyno_life::events::RunEvent;
use pgdyno_measure::{Interval, Phase};
use pgdyno_server::Frame;

use facts::Facts;
use frames::Frames;
use messages::Messages;
use progress::Standing;
use series::Series;
use server::Checkpoints;
use totals::Totals;

/// Shorter intervals lie between two phases, and give no rate.
const SHORTEST_S: f64 = 0.05;

/// Everything that the view shows of a run.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// The workload, the target and the length.
    pub(crate) facts: Facts,
    /// The state of the run.
    pub(crate) standing: Standing,
    /// Throughput and latency over time.
    pub(crate) series: Series,
    /// Figures of the last interval and of the phase.
    pub(crate) totals: Totals,
    /// The latest samples.
    pub(crate) frames: Frames,
    /// Checkpoints that ended during this run.
    pub(crate) checkpoints: Checkpoints,
    /// Notes and warnings.
    pub(crate) messages: Messages,
}

impl Model {
    /// Returns the model of a run that starts after these messages.
    pub(crate) fn new(facts: Facts, messages: Messages) -> Self {
        let kinds = facts.txns.len();
        Self {
            facts,
            standing: Standing::default(),
            series: Series::default(),
            totals: Totals::new(kinds),
            frames: Frames::default(),
            checkpoints: Checkpoints::default(),
            messages,
        }
    }

    /// Adds an event, `now_s` seconds after the view started.
    pub(crate) fn event(&mut self, now_s: f64, event: &RunEvent<'_>) {
        match *event {
            RunEvent::Note { text } => self.say(text),
            RunEvent::Warning { text } | RunEvent::LeftOut { text } => self.say(&format!("warning: {text}")),
            RunEvent::Waiting { text } => self.say(&format!("waiting: {text}")),
            RunEvent::Ending { text } => {
                self.standing.ending = true;
                self.say(text);
            }
            RunEvent::Connecting { connected, .. } => self.connecting(connected),
            RunEvent::Interval { interval } => self.interval(now_s, interval),
            RunEvent::Sample { at_s, frame } => self.sampled(at_s, frame),
            // None of these events comes while clients run.
            RunEvent::Detail { .. }
            | RunEvent::Step { .. }
            | RunEvent::Study { .. }
            | RunEvent::LoadPhase { .. }
            | RunEvent::LoadBegins { .. }
            | RunEvent::LoadRows { .. }
            | RunEvent::ChecksBegin
            | RunEvent::Checking { .. }
            | RunEvent::DriveBegins { .. }
            | RunEvent::Ended => {}
        }
    }

    fn say(&mut self, text: &str) {
        text.lines().for_each(|line| self.messages.say(line));
    }

    /// Sets the number of connected clients.
    pub(crate) fn connecting(&mut self, connected: usize) {
        self.standing.connected = self.standing.connected.max(connected);
    }

    /// Adds an interval that ended `now_s` seconds after the view started.
    pub(crate) fn interval(&mut self, now_s: f64, interval: &Interval) {
        let end_s = interval.end_ns as f64 / 1e9;
        self.standing.update(now_s, end_s, interval.phase);
        self.totals.add(interval);
        if interval.seconds() >= SHORTEST_S && interval.phase != Phase::Drain {
            self.series.push(interval, self.totals.now.as_ref());
        }
    }

    /// Adds samples of a source, `at_s` seconds into the run.
    pub(crate) fn sampled(&mut self, at_s: f64, frame: &Frame) {
        self.frames.keep(at_s, frame);
        self.checkpoints.look(at_s, &self.frames);
    }
}
