//! The objective that decides on a load, and its figures in the runs of that load.

use pgdyno_measure::mean::median;
use pgdyno_results::{Objective, ObjectiveValue, RunFigures, SearchPoint};
use pgdyno_text::units;

/// An objective with its figures in the runs of a load: nanoseconds, or shares.
pub(super) struct Deciding {
    objective: Objective,
    bound: ObjectiveValue,
    /// Ascending, not empty.
    values: Vec<f64>,
}

impl Deciding {
    /// Returns the objective that is closest to its bound, or farthest beyond it.
    pub(super) fn of(objectives: &[String], point: &SearchPoint) -> Option<Self> {
        let known = objectives.iter().filter_map(|text| Self::under(Objective::parse(text).ok()?, point));
        known.min_by(|a, b| a.margin().total_cmp(&b.margin()))
    }

    /// Returns the figures of an objective; `None` if the load has none of it.
    pub(super) fn under(objective: Objective, point: &SearchPoint) -> Option<Self> {
        let bound = objective.bound()?;
        let mut values = figures(&objective, bound, point);
        values.sort_by(f64::total_cmp);
        (!values.is_empty()).then_some(Self { objective, bound, values })
    }

    /// Returns the lowest, the median and the highest figure.
    pub(super) fn spread(&self) -> [f64; 3] {
        let (low, high) = (self.values[0], self.values[self.values.len() - 1]);
        [low, median(&self.values).unwrap_or(low), high]
    }

    /// Returns the bound as a number.
    pub(super) fn bound(&self) -> f64 {
        number(self.bound)
    }

    /// Returns the logarithm of bound over median: below 0 the objective is not met.
    pub(super) fn margin(&self) -> f64 {
        (self.bound() / self.spread()[1]).ln()
    }

    fn text(&self, value: f64) -> String {
        let value = match self.bound {
            ObjectiveValue::LatencyNs(_) => ObjectiveValue::LatencyNs(value),
            ObjectiveValue::FailedShare(_) => ObjectiveValue::FailedShare(value),
        };
        value.to_string()
    }

    /// Returns two figures with their unit.
    fn texts(&self, low: f64, high: f64, between: &str) -> String {
        match self.bound {
            ObjectiveValue::LatencyNs(_) => format!("{} {between} {}", units::ms(low as u64), self.text(high)),
            ObjectiveValue::FailedShare(_) => format!("{} {between} {}", self.text(low), self.text(high)),
        }
    }
}

fn number(value: ObjectiveValue) -> f64 {
    match value {
        ObjectiveValue::LatencyNs(number) | ObjectiveValue::FailedShare(number) => number,
    }
}

/// Returns the figures of an objective in the runs of a load. Records of 0.2.0 have only medians, and not of every figure.
fn figures(objective: &Objective, bound: ObjectiveValue, point: &SearchPoint) -> Vec<f64> {
    let name = objective.figure();
    let is_latency = matches!(bound, ObjectiveValue::LatencyNs(_));
    let values = |of: &RunFigures| if is_latency { of.latency_ns.clone() } else { of.failed_share.clone() };
    let of_runs = point.of_runs.iter().find(|of| of.name == name).map(values).unwrap_or_default();
    if !of_runs.is_empty() {
        return of_runs;
    }
    let of_kind = point.of_kinds.iter().find(|kind| kind.name == name);
    let median = match (of_kind, name.as_str()) {
        (Some(kind), _) if is_latency => kind.latency_ns,
        (Some(kind), _) => kind.failed_share,
        (None, "p50") => point.response_latency_ns_p50,
        (None, "p99") => point.response_latency_ns_p99,
        (None, "mean") => point.response_latency_ns_mean,
        (None, "errors") => Some(point.failed_share),
        (None, _) => None,
    };
    median.into_iter().collect()
}

/// Returns why repeated runs of a load decide nothing: `p99 scatters between 15.0 and 162 ms at 50.0/s`. `load` is the load in
/// words.
#[must_use]
pub fn scatter(objectives: &[String], point: &SearchPoint, load: &str) -> String {
    if point.overloaded > 0 {
        let overload = point.overload.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        return format!("{} of {} runs at {load} were overloaded{overload}", point.overloaded, point.repeats);
    }
    let Some(deciding) = Deciding::of(objectives, point) else { return format!("the runs at {load} disagree") };
    let ([low, _, high], name) = (deciding.spread(), deciding.objective.figure());
    let verb = if name.ends_with("errors") { "scatter" } else { "scatters" };
    match low < deciding.bound() && deciding.bound() < high {
        true => format!("{name} {verb} between {} at {load}", deciding.texts(low, high, "and")),
        false => {
            let (figures, bound) = (deciding.texts(low, high, "to"), deciding.text(deciding.bound()));
            format!("{name} of {figures} at {load} is too close to {bound}")
        }
    }
}

/// Returns how far a load misses the objectives: `p99 is 15.3 ms`, or why it was too high.
#[must_use]
pub fn miss(objectives: &[String], point: &SearchPoint) -> String {
    match (&point.overload, Deciding::of(objectives, point)) {
        (Some(overload), _) if 2 * point.overloaded > point.repeats => overload.clone(),
        (_, Some(deciding)) => {
            let name = deciding.objective.figure();
            let verb = if name.ends_with("errors") { "are" } else { "is" };
            format!("{name} {verb} {}", deciding.text(deciding.spread()[1]))
        }
        (overload, None) => overload.clone().unwrap_or_else(|| "no run has its figure".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(latency_ms: &[f64], failed_share: &[f64]) -> SearchPoint {
        let of = |name: &str, latency_ns, failed_share| RunFigures { name: name.to_owned(), latency_ns, failed_share };
        let latency_ns = latency_ms.iter().map(|ms| ms * 1e6).collect();
        let of_runs = vec![of("p99", latency_ns, Vec::new()), of("errors", Vec::new(), failed_share.to_vec())];
        SearchPoint { repeats: latency_ms.len(), of_runs, ..SearchPoint::default() }
    }

    fn objectives() -> [String; 2] {
        ["p99 < 50ms", "errors < 1%"].map(str::to_owned)
    }

    #[test]
    fn scattered_figures_differ_from_close_ones() {
        let say = |ms: &[f64], failed: &[f64]| scatter(&objectives(), &point(ms, failed), "5.00/s");
        assert_eq!(say(&[162.0, 15.0, 40.0], &[0.0; 3]), "p99 scatters between 15.0 and 162 ms at 5.00/s");
        assert_eq!(say(&[48.0, 49.5], &[0.0; 2]), "p99 of 48.0 to 49.5 ms at 5.00/s is too close to 50.0 ms");
        assert_eq!(say(&[15.0, 16.0], &[0.002, 0.03]), "errors scatter between 0.20 % and 3.0 % at 5.00/s");
        let mut overloaded = point(&[15.0, 16.0], &[0.0; 2]);
        (overloaded.overloaded, overloaded.overload) = (1, Some("the queue grows".to_owned()));
        assert_eq!(
            scatter(&objectives(), &overloaded, "1 client"),
            "1 of 2 runs at 1 client were overloaded (the queue grows)"
        );
    }

    #[test]
    fn a_miss_names_the_figure_that_is_farthest_beyond_its_bound() {
        assert_eq!(miss(&objectives(), &point(&[60.0, 70.0], &[0.0; 2])), "p99 is 65.0 ms");
        assert_eq!(miss(&objectives(), &point(&[60.0, 70.0], &[0.02; 2])), "errors are 2.0 %");
        let overload = Some("98.0 % of the offered rate were achieved".to_owned());
        let overloaded = SearchPoint { overloaded: 2, overload, ..point(&[1.0, 1.0], &[0.0; 2]) };
        assert_eq!(miss(&objectives(), &overloaded), "98.0 % of the offered rate were achieved");
    }

    #[test]
    fn older_records_have_medians() {
        let old = SearchPoint { response_latency_ns_p99: Some(6e7), repeats: 2, ..SearchPoint::default() };
        assert_eq!(miss(&objectives(), &old), "p99 is 60.0 ms");
        assert_eq!(Deciding::of(&["p95 < 1ms".to_owned(), "tps > 5".to_owned()], &old).map(|d| d.margin()), None);
    }
}
