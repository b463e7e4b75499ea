//! The state of a run.

use pgdyno_measure::Phase;
use pgdyno_text::units;

use super::Model;

/// The known state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// Clients that are connected.
    pub(crate) connected: usize,
    /// Whether the run was asked to end.
    pub(crate) ending: bool,
    /// The time of the view at which the run's time was 0, from the interval with the shortest delay.
    origin_s: Option<f64>,
    /// The phase of the last interval.
    phase: Option<Phase>,
}

impl Standing {
    /// Adds an interval that ended `end_s` seconds into the run and arrived at `now_s`.
    pub(super) fn update(&mut self, now_s: f64, end_s: f64, phase: Phase) {
        let origin_s = now_s - end_s;
        self.origin_s = Some(self.origin_s.map_or(origin_s, |known| known.min(origin_s)));
        self.phase = Some(phase);
    }

    /// Returns how long the run has been going on at `now_s`; `None` before that is known.
    pub(crate) fn elapsed_s(&self, now_s: f64) -> Option<f64> {
        self.origin_s.map(|origin_s| (now_s - origin_s).max(0.0))
    }
}

/// The state of a run, as text and as a share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CurrentStep {
    /// The current step.
    pub(crate) name: &'static str,
    /// The progress as text.
    pub(crate) far: String,
    /// The completed share, 0 to 1, if the end is known.
    pub(crate) share: Option<f64>,
}

impl Model {
    /// Returns the state of the run at `now_s`.
    pub(crate) fn stage(&self, now_s: f64) -> CurrentStep {
        let Some(elapsed_s) = self.standing.elapsed_s(now_s) else { return self.connecting_stage() };
        if self.standing.ending {
            let far = "transactions in flight may finish; press Ctrl-C again to cancel them";
            return CurrentStep { name: "ending", far: far.to_owned(), share: self.share(elapsed_s) };
        }
        let name = match self.phase(elapsed_s) {
            Phase::Ramp => "warming up",
            Phase::Measure => "measuring",
            Phase::Drain => "ending",
        };
        let far = match (self.phase(elapsed_s), self.facts.time_s) {
            (Phase::Ramp, _) => of(elapsed_s, self.facts.ramp_s),
            (Phase::Drain, _) => "the last transactions are ending".to_owned(),
            (Phase::Measure, Some(time_s)) => of(elapsed_s - self.facts.ramp_s, time_s),
            (Phase::Measure, None) => format!("{} transactions done", units::count(self.totals.ended())),
        };
        CurrentStep { name, far, share: self.share(elapsed_s) }
    }

    fn connecting_stage(&self) -> CurrentStep {
        let (connected, links) = (self.standing.connected, self.facts.links);
        let name = if connected < links as usize { "connecting" } else { "starting" };
        let far = format!("{} of {} clients connected", units::count(connected as u64), units::count(u64::from(links)));
        CurrentStep { name, far, share: (links > 0).then(|| connected as f64 / f64::from(links)) }
    }

    /// Returns the phase by the clock; with a number of transactions, that of the last interval.
    fn phase(&self, elapsed_s: f64) -> Phase {
        let measured_s = elapsed_s - self.facts.ramp_s;
        match (self.facts.time_s, self.standing.phase) {
            (_, Some(Phase::Drain)) => Phase::Drain,
            _ if measured_s < 0.0 => Phase::Ramp,
            (Some(time_s), _) if measured_s >= time_s => Phase::Drain,
            _ => Phase::Measure,
        }
    }

    fn share(&self, elapsed_s: f64) -> Option<f64> {
        let share = match (self.facts.time_s, self.facts.transactions) {
            (Some(time_s), _) => elapsed_s / (self.facts.ramp_s + time_s),
            (None, Some(all)) if all > 0 => self.totals.ended() as f64 / all as f64,
            _ => return None,
        };
        Some(share.clamp(0.0, 1.0))
    }
}

fn of(done_s: f64, whole_s: f64) -> String {
    let left_s = (whole_s - done_s).max(0.0).ceil();
    format!("{} of {}, {} left", seconds(done_s.floor()), seconds(whole_s), seconds(left_s))
}

/// Formats a length of time in whole seconds.
fn seconds(whole: f64) -> String {
    if whole < 120.0 { format!("{whole:.0} s") } else { units::duration(whole) }
}
