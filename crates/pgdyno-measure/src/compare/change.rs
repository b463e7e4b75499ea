//! The change from one side to the other.

use super::estimate::{Estimate, mean};
use super::student;

/// The direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The whole interval is above no change.
    Up,
    /// The whole interval is below it.
    Down,
    /// The interval holds no change.
    Unknown,
}

/// A ratio NEW / BASE, with its confidence interval: 1 is no change, 0.97 is 3 % less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The ratio that was seen.
    pub ratio: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// Variance of the logarithm of the ratio of one single run of each side, as far as it is known.
    pub variance_of_one: f64,
}

impl Change {
    /// From one estimate to another: Welch's interval, on logarithms. `confidence` is in (0, 1).
    #[must_use]
    pub fn between(base: &Estimate, new: &Estimate, confidence: f64) -> Self {
        let (log, variance, dof) = welch(base, new);
        Self::of(log, variance, dof, confidence, variance)
    }

    /// From the figures of several runs, all positive: the runs vary, whatever went on within them. `None` where both
    /// sides have one run only, or one has none.
    ///
    /// A side of one run is assumed to vary as the other side's runs do.
    #[must_use]
    pub fn of_runs(base: &[f64], new: &[f64], confidence: f64) -> Option<Self> {
        let logs = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<_>>();
        let (base, new) = (logs(base), logs(new));
        let (from, to) = (base.len() as f64, new.len() as f64);
        let log = mean(&new) - mean(&base);
        match (variance(&base), variance(&new)) {
            (Some(base), Some(new)) => {
                let side = |variance: f64, n: f64| Estimate { log: 0.0, variance: variance / n, dof: n - 1.0 };
                let sides = Self::between(&side(base, from), &Estimate { log, ..side(new, to) }, confidence);
                Some(Self { variance_of_one: base + new, ..sides })
            }
            (Some(known), None) | (None, Some(known)) if !base.is_empty() && !new.is_empty() => {
                let variance = known * (1.0 / from + 1.0 / to);
                Some(Self::of(log, variance, from + to - 2.0, confidence, 2.0 * known))
            }
            _ => None,
        }
    }

    /// Returns the change with the noise from run to run added: `deviation` is its standard deviation, relative, in each of
    /// two single runs. Both parts of each end add as distances of independent estimates do (MOVER: Zou and Donner 2008).
    #[must_use]
    pub fn with_run_noise(self, deviation: f64, confidence: f64) -> Self {
        let log = self.ratio.ln();
        let reach = student::quantile(0.5 + confidence / 2.0, f64::INFINITY) * deviation * std::f64::consts::SQRT_2;
        let low = log - (log - self.low.ln()).hypot(reach);
        let high = log + (self.high.ln() - log).hypot(reach);
        let variance_of_one = self.variance_of_one + 2.0 * deviation * deviation;
        Self { low: low.exp(), high: high.exp(), variance_of_one, ..self }
    }

    /// Returns the change whose logarithm is `log`, with this variance and degrees of freedom.
    pub(crate) fn of(log: f64, variance: f64, dof: f64, confidence: f64, variance_of_one: f64) -> Self {
        let reach = student::quantile(0.5 + confidence / 2.0, dof) * variance.sqrt();
        Self { ratio: log.exp(), low: (log - reach).exp(), high: (log + reach).exp(), variance_of_one }
    }

    /// Returns the direction, at the confidence of the interval.
    #[must_use]
    pub fn direction(&self) -> Direction {
        match self {
            _ if self.low > 1.0 => Direction::Up,
            _ if self.high < 1.0 => Direction::Down,
            _ => Direction::Unknown,
        }
    }
}

/// Returns the difference of two estimates, its variance, and the degrees of freedom of that (Welch and Satterthwaite).
pub(super) fn welch(base: &Estimate, new: &Estimate) -> (f64, f64, f64) {
    let variance = base.variance + new.variance;
    let parts = base.variance.powi(2) / base.dof + new.variance.powi(2) / new.dof;
    let dof = if parts > 0.0 { variance.powi(2) / parts } else { base.dof.min(new.dof) };
    (new.log - base.log, variance, dof)
}

/// The sample variance; `None` of fewer than two.
fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (values.len() >= 2).then(|| squares / (values.len() as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_compared_as_welch_does() {
        // By hand, on logarithms: difference 0.02705, standard error 0.006464, 3.298 degrees of freedom.
        let change = Change::of_runs(&[100.0, 101.0, 99.5, 100.5], &[102.0, 104.0, 103.0], 0.95).unwrap();
        let logs = [change.low.ln(), change.ratio.ln(), change.high.ln()];
        let reach = 0.006_464 * student::quantile(0.975, 3.298);
        for (log, truth) in logs.iter().zip([0.027_05 - reach, 0.027_05, 0.027_05 + reach]) {
            assert!((log - truth).abs() < 2e-5, "{log} for {truth}");
        }
        assert_eq!(change.direction(), Direction::Up);
    }

    #[test]
    fn a_single_run_is_taken_to_vary_as_the_others_do() {
        let several = [100.0, 101.0, 99.0, 100.5];
        let (down, up) = (Change::of_runs(&several, &[80.0], 0.95), Change::of_runs(&[80.0], &several, 0.95));
        assert_eq!((down.unwrap().direction(), up.unwrap().direction()), (Direction::Down, Direction::Up));
        assert_eq!(Change::of_runs(&several, &[99.5], 0.95).unwrap().direction(), Direction::Unknown);
        for (base, new) in [(&[1.0][..], &[1.0][..]), (&several, &[]), (&[], &[])] {
            assert_eq!(Change::of_runs(base, new, 0.95), None);
        }
    }

    #[test]
    fn more_confidence_is_a_wider_interval() {
        let change = |confidence| Change::of_runs(&[100.0, 102.0, 101.0], &[103.0, 105.0, 104.0], confidence).unwrap();
        let (usual, sure) = (change(0.95), change(0.999));
        assert!(sure.low < usual.low && usual.high < sure.high && usual.ratio == sure.ratio);
        assert_eq!((usual.direction(), sure.direction()), (Direction::Up, Direction::Unknown));
    }

    #[test]
    fn what_does_not_vary_at_all_changes_by_what_is_seen() {
        let change = Change::of_runs(&[100.0, 100.0], &[110.0, 110.0], 0.95).unwrap();
        assert!((change.low - 1.1).abs() < 1e-9 && (change.high - 1.1).abs() < 1e-9, "{change:?}");
    }
}
