//! Where a run stands.

use pgdyno_measure::Phase;
use pgdyno_report::units;

use super::Model;

/// What is known of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// Clients that are connected.
    pub(crate) connected: usize,
    /// Whether somebody has asked the run to end.
    pub(crate) ending: bool,
    /// When, on the view's clock, the run's time was 0: as the interval that was heard of soonest has it.
    origin_s: Option<f64>,
    /// The phase of the last interval.
    phase: Option<Phase>,
}

impl Standing {
    /// An interval that ended `end_s` seconds into the run was heard of at `now_s`.
    pub(super) fn heard(&mut self, now_s: f64, end_s: f64, phase: Phase) {
        let origin_s = now_s - end_s;
        self.origin_s = Some(self.origin_s.map_or(origin_s, |known| known.min(origin_s)));
        self.phase = Some(phase);
    }

    /// How long the run has been going at `now_s`; `None` before it is known.
    pub(crate) fn elapsed_s(&self, now_s: f64) -> Option<f64> {
        self.origin_s.map(|origin_s| (now_s - origin_s).max(0.0))
    }
}

/// Where a run stands: in words, and as a share of the whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    /// What goes on.
    pub(crate) name: &'static str,
    /// How far it is.
    pub(crate) far: String,
    /// The share that is done, 0 to 1, where the end is known.
    pub(crate) share: Option<f64>,
}

impl Model {
    /// Where the run stands at `now_s`.
    pub(crate) fn stage(&self, now_s: f64) -> Stage {
        let Some(elapsed_s) = self.standing.elapsed_s(now_s) else { return self.connecting_stage() };
        if self.standing.ending {
            let far = "transactions in flight may finish; Ctrl-C once more ends them";
            return Stage { name: "ending", far: far.to_owned(), share: self.share(elapsed_s) };
        }
        let name = match self.phase(elapsed_s) {
            Phase::Ramp => "warming up",
            Phase::Measure => "measuring",
            Phase::Drain => "ending",
        };
        let far = match (self.phase(elapsed_s), self.facts.time_s) {
            (Phase::Ramp, _) => of(elapsed_s, self.facts.ramp_s),
            (Phase::Drain, _) => "the last transactions finish".to_owned(),
            (Phase::Measure, Some(time_s)) => of(elapsed_s - self.facts.ramp_s, time_s),
            (Phase::Measure, None) => format!("{} transactions done", units::count(self.totals.ended())),
        };
        Stage { name, far, share: self.share(elapsed_s) }
    }

    fn connecting_stage(&self) -> Stage {
        let (connected, links) = (self.standing.connected, self.facts.links);
        let name = if connected < links as usize { "connecting" } else { "starting" };
        let far = format!("{} of {} clients connected", units::count(connected as u64), units::count(u64::from(links)));
        Stage { name, far, share: (links > 0).then(|| connected as f64 / f64::from(links)) }
    }

    /// The phase by the clock; with a number of transactions, by the last interval.
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

/// A length of time in whole seconds.
fn seconds(whole: f64) -> String {
    if whole < 120.0 { format!("{whole:.0} s") } else { units::duration(whole) }
}
