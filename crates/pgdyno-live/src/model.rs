//! What the full-screen view shows: pure, time is an argument.
//!
//! [`Model`] is told what happens; [`facts`] is what does not change, [`progress`] where the run stands, [`series`] its
//! throughput over time, [`totals`] its figures, [`frames`] the last samples, of which [`waits`], [`machines`] and
//! [`server`] make what is shown, and [`told`] what was to be read.

#[cfg(test)]
pub(crate) mod example;
pub(crate) mod facts;
pub(crate) mod frames;
pub(crate) mod machines;
pub(crate) mod progress;
pub(crate) mod series;
pub(crate) mod server;
#[cfg(test)]
mod tests;
pub(crate) mod told;
pub(crate) mod totals;
pub(crate) mod waits;

use pgdyno_life::events::Event;
use pgdyno_measure::{Interval, Phase};
use pgdyno_server::Frame;

use facts::Facts;
use frames::Frames;
use progress::Standing;
use series::Series;
use server::Checkpoints;
use told::Told;
use totals::Totals;

/// Intervals shorter than this are a border of two phases, and no rate.
const SHORTEST_S: f64 = 0.05;

/// Everything that is shown of a run.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// What is run.
    pub(crate) facts: Facts,
    /// Where the run stands.
    pub(crate) standing: Standing,
    /// Throughput and latency over time.
    pub(crate) series: Series,
    /// Figures of the last interval and of the phase.
    pub(crate) totals: Totals,
    /// The last samples.
    pub(crate) frames: Frames,
    /// Checkpoints that ended in this run.
    pub(crate) checkpoints: Checkpoints,
    /// Notes and warnings.
    pub(crate) told: Told,
}

impl Model {
    /// Of a run that begins.
    pub(crate) fn new(facts: Facts) -> Self {
        let kinds = facts.txns.len();
        Self {
            facts,
            standing: Standing::default(),
            series: Series::default(),
            totals: Totals::new(kinds),
            frames: Frames::default(),
            checkpoints: Checkpoints::default(),
            told: Told::default(),
        }
    }

    /// Takes what happened, `now_s` seconds after the view began.
    pub(crate) fn event(&mut self, now_s: f64, event: &Event<'_>) {
        match *event {
            Event::Note { text } => self.say(text),
            Event::Warning { text } => self.say(&format!("warning: {text}")),
            Event::Ending { text } => {
                self.standing.ending = true;
                self.say(text);
            }
            Event::Connecting { connected, .. } => self.connecting(connected),
            Event::Interval { interval } => self.interval(now_s, interval),
            Event::Sample { at_s, frame } => self.sampled(at_s, frame),
            // None of these comes while clients are at work.
            Event::Step { .. }
            | Event::LoadPhase { .. }
            | Event::LoadBegins { .. }
            | Event::LoadRows { .. }
            | Event::ChecksBegin
            | Event::Checking { .. }
            | Event::DriveBegins { .. }
            | Event::Ended => {}
        }
    }

    fn say(&mut self, text: &str) {
        text.lines().for_each(|line| self.told.say(line));
    }

    /// So many clients are connected.
    pub(crate) fn connecting(&mut self, connected: usize) {
        self.standing.connected = self.standing.connected.max(connected);
    }

    /// An interval ended, `now_s` seconds after the view began.
    pub(crate) fn interval(&mut self, now_s: f64, interval: &Interval) {
        let end_s = interval.end_ns as f64 / 1e9;
        self.standing.heard(now_s, end_s, interval.phase);
        self.totals.add(interval);
        if interval.seconds() >= SHORTEST_S && interval.phase != Phase::Drain {
            self.series.push(interval, self.totals.now.as_ref());
        }
    }

    /// A source was looked at, `at_s` seconds into the run.
    pub(crate) fn sampled(&mut self, at_s: f64, frame: &Frame) {
        self.frames.keep(at_s, frame);
        self.checkpoints.look(at_s, &self.frames);
    }
}
