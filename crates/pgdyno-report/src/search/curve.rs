//! Load against latency: the loads of a search with the figure of the objective that limits it.

use pgdyno_results::{Objective, ObjectiveValue, SearchPoint, SearchRecord};

use super::deciding::Deciding;
use crate::scaling::svg::scale;

/// Loads that differ by more than this ratio are drawn on a logarithmic axis.
const LOADS_RATIO: f64 = 20.0;

/// The same of latencies.
const LATENCIES_RATIO: f64 = 5.0;

/// Room at the ends of a logarithmic axis, as a ratio.
const ROOM: f64 = 1.15;

/// More labels of an axis would run into each other.
const TICKS_MAX: usize = 6;

/// Whether a load meets the objectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LoadSign {
    /// Its runs do not show it.
    Undecided,
    /// It does not.
    Missed,
    /// It does.
    Met,
}

impl LoadSign {
    /// All of them, as a legend has them.
    pub(crate) const ALL: [Self; 3] = [Self::Met, Self::Missed, Self::Undecided];

    pub(super) fn of(point: &SearchPoint) -> Self {
        match point.verdict.as_str() {
            "kept" => Self::Met,
            "broken" => Self::Missed,
            _ => Self::Undecided,
        }
    }

    /// Returns the word in legends.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "not met",
            Self::Undecided => "undecided",
        }
    }
}

/// A load of the curve, with the figure in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CurvePoint {
    pub(crate) load: f64,
    /// The lowest of its runs.
    pub(crate) low_ms: f64,
    /// The median.
    pub(crate) middle_ms: f64,
    /// The highest.
    pub(crate) high_ms: f64,
    pub(crate) sign: LoadSign,
}

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CurveAxis {
    from: f64,
    to: f64,
    pub(crate) is_logarithmic: bool,
}

impl CurveAxis {
    /// Returns the axis of these values, which are above 0.
    fn of(values: impl Iterator<Item = f64>, ratio_max: f64) -> Self {
        let (least, most) =
            values.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), v| (least.min(v), most.max(v)));
        match most > least * ratio_max {
            true => Self { from: least / ROOM, to: most * ROOM, is_logarithmic: true },
            false => Self { from: 0.0, to: most * 1.05, is_logarithmic: false },
        }
    }

    /// Returns the logarithmic axis between two values above 0.
    pub(crate) fn logarithmic(from: f64, to: f64) -> Self {
        Self { from, to, is_logarithmic: true }
    }

    /// Returns its ends.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// Returns the place of a value, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.is_logarithmic {
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        share.clamp(0.0, 1.0)
    }

    /// Returns round numbers along the axis, ascending.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if !self.is_logarithmic {
            let (step, _) = scale(self.to);
            return (0..).map(|nth| f64::from(nth) * step).take_while(|tick| *tick <= self.to).collect();
        }
        let decades = self.from.log10().floor() as i32..=self.to.log10().floor() as i32;
        let of = |steps: &[f64]| {
            let ticks = decades.clone().flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
            ticks.filter(|tick| (self.from..=self.to).contains(tick)).collect::<Vec<_>>()
        };
        let all = of(&[1.0, 2.0, 5.0]);
        if all.len() > TICKS_MAX { of(&[1.0]) } else { all }
    }
}

/// The curve of a search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadCurve {
    /// The figure: `p99`, `new-order p99`.
    pub(crate) figure: String,
    /// The objective that it is to meet, and its bound in milliseconds; `None` if no objective limits a response time.
    pub(crate) objective: Option<(String, f64)>,
    /// By load.
    pub(crate) points: Vec<CurvePoint>,
    /// The axis of loads.
    pub(crate) loads: CurveAxis,
    /// The axis of latencies in milliseconds.
    pub(crate) latencies: CurveAxis,
}

impl LoadCurve {
    /// Returns the curve of a search; `None` for fewer than two loads with figures.
    pub(crate) fn of(record: &SearchRecord) -> Option<Self> {
        let objective = limiting(record);
        // Without an objective for a response time, the curve shows the p99.
        let shown = objective.clone().or_else(|| Objective::parse("p99 < 1h").ok())?;
        let point = |point: &SearchPoint| {
            let [low_ms, middle_ms, high_ms] =
                Deciding::under(shown.clone(), point)?.spread().map(|ns| (ns / 1e6).max(1e-6));
            Some(CurvePoint { load: point.load, low_ms, middle_ms, high_ms, sign: LoadSign::of(point) })
        };
        let points: Vec<CurvePoint> = record.points.iter().filter_map(point).collect();
        if points.len() < 2 {
            return None;
        }
        let bound_ms = objective.as_ref().and_then(|objective| match objective.bound()? {
            ObjectiveValue::LatencyNs(ns) => Some(ns / 1e6),
            ObjectiveValue::FailedShare(_) => None,
        });
        let latencies = points.iter().flat_map(|point| [point.low_ms, point.high_ms]).chain(bound_ms);
        Some(Self {
            figure: shown.figure(),
            loads: CurveAxis::of(points.iter().map(|point| point.load), LOADS_RATIO),
            latencies: CurveAxis::of(latencies, LATENCIES_RATIO),
            objective: objective.map(|objective| objective.to_string()).zip(bound_ms),
            points,
        })
    }

    /// Returns the heading: `p99 in ms by transactions/s offered`.
    pub(crate) fn title(&self, by: &str) -> String {
        let load = if by == "rate" { "transactions/s offered" } else { "clients" };
        let scale = match (self.loads.is_logarithmic, self.latencies.is_logarithmic) {
            (true, true) => ", both logarithmic",
            (false, true) => ", ms logarithmic",
            (true, false) => match by {
                "rate" => ", transactions/s logarithmic",
                _ => ", clients logarithmic",
            },
            (false, false) => "",
        };
        format!("{} in ms by {load}{scale}", self.figure)
    }
}

/// Returns the objective for a response time that the lowest load beyond the limit misses by most.
fn limiting(record: &SearchRecord) -> Option<Objective> {
    let beyond = record.points.iter().find(|point| Some(point.load) == record.broken).or(record.points.last())?;
    let parsed = record.objectives.iter().filter_map(|text| Objective::parse(text).ok());
    let of_latency = parsed.filter(|objective| matches!(objective.bound(), Some(ObjectiveValue::LatencyNs(_))));
    let margin =
        |objective: &Objective| Deciding::under(objective.clone(), beyond).map_or(f64::INFINITY, |d| d.margin());
    of_latency.min_by(|a, b| margin(a).total_cmp(&margin(b)))
}

/// Returns a round number for an axis: `0.5`, `20`, `1,000`.
pub(crate) fn tick_text(value: f64) -> String {
    if value >= 1000.0 {
        return pgdyno_text::units::grouped(value);
    }
    let digits = format!("{value:.6}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_logarithmic_if_its_ends_are_far_apart() {
        let near = CurveAxis::of([400.0, 1000.0].into_iter(), 5.0);
        assert_eq!(
            (near.share(0.0), near.share(525.0), near.ticks().as_slice()),
            (0.0, 0.5, &[0.0, 500.0, 1000.0][..])
        );
        let far = CurveAxis::of([2.0, 160.0].into_iter(), 5.0);
        assert!(far.is_logarithmic && (far.share((2.0_f64 * 160.0).sqrt()) - 0.5).abs() < 1e-9);
        assert_eq!(far.ticks(), [2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(CurveAxis::of([1.0, 1e6].into_iter(), 5.0).ticks().len(), 7);
        assert_eq!([0.001, 0.5, 20.0, 1000.0].map(tick_text), ["0.001", "0.5", "20", "1,000"]);
    }

    #[test]
    fn the_figure_is_that_of_the_objective_that_is_missed_by_most() {
        let started = jiff::Timestamp::UNIX_EPOCH;
        let mut record = SearchRecord::begin("s".into(), started, "noop".into(), "none".into(), "rate");
        let point = |load, p50, p99| SearchPoint {
            load,
            response_latency_ns_p50: Some(p50),
            response_latency_ns_p99: Some(p99),
            ..SearchPoint::default()
        };
        record.points = vec![point(10.0, 1e6, 2e6), point(20.0, 2e6, 9e7), point(30.0, 5e6, 9e8)];
        let figure = |objectives: &[&str]| {
            let objectives = objectives.iter().map(|text| (*text).to_owned()).collect();
            let curve = LoadCurve::of(&SearchRecord { objectives, broken: Some(20.0), ..record.clone() }).unwrap();
            (curve.figure, curve.objective.map(|(_, bound_ms)| bound_ms))
        };
        assert_eq!(figure(&["p50 < 1ms", "p99 < 10ms", "tps > 1"]), ("p99".to_owned(), Some(10.0)));
        assert_eq!(figure(&["p50 < 1ms", "p99 < 80ms"]), ("p50".to_owned(), Some(1.0)));
        assert_eq!(figure(&["errors < 1%"]), ("p99".to_owned(), None));
        record.points.truncate(1);
        assert_eq!(LoadCurve::of(&record), None);
    }
}
