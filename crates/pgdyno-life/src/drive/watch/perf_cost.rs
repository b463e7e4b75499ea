//! Pauses of perf within the window, and what they show.

use std::cell::RefCell;

use pgdyno_measure::pauses::{Cost, cost, is_paused};
use pgdyno_measure::{Interval, Phase};
use pgdyno_server::os::perf::Perf;

/// An interval shorter than this, in seconds, is the rest of one.
const WHOLE_S: f64 = 0.5;

/// Mean service time of each whole interval of the window.
#[derive(Default)]
pub(super) struct Pauses(RefCell<Vec<Option<f64>>>);

impl Pauses {
    /// Takes an interval that has ended; pauses perf for the next one, or resumes it.
    pub(super) fn interval(&self, interval: &Interval, perf: &Perf) {
        if interval.stage > 0 || interval.phase != Phase::Measure || interval.seconds() < WHOLE_S {
            return;
        }
        let service = interval.part.all().service;
        let mut times = self.0.borrow_mut();
        times.push((service.count() > 0).then(|| service.mean_ns()));
        let next = times.len() as u64;
        match (is_paused(next - 1), is_paused(next)) {
            (false, true) => perf.pause(),
            (true, false) => perf.resume(),
            _ => {}
        }
    }

    /// Returns what perf cost; `None` if the window was too short for a pause.
    pub(super) fn cost(&self) -> Option<Cost> {
        cost(&self.0.borrow())
    }
}
