//! Segments of a series: their level, their spread, and what is between two of them.

use crate::compare::student;

/// The variance of a side counts as if so many runs of the common one were among its own: a side of three runs hardly knows
/// its variance, and one of thirty may well have another than its neighbour.
const COMMON_RUNS: f64 = 6.0;

/// The least variance: figures that are equal to a millionth are equal.
const VARIANCE_MIN: f64 = 1e-12;

/// A series, with sums over all runs before each.
#[derive(Debug)]
pub(super) struct Segments {
    logs: Vec<f64>,
    /// The level that the sums leave out.
    origin: f64,
    sums: Vec<f64>,
    squares: Vec<f64>,
    /// Sums of products of each run with its number.
    moments: Vec<f64>,
}

/// The difference of two neighbouring segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contrast {
    /// From the mean of the first to that of the second.
    pub(super) log: f64,
    /// Variance of that.
    pub(super) variance: f64,
    /// Degrees of freedom of that.
    pub(super) dof: f64,
}

impl Contrast {
    /// Returns how clear the difference is: the deviate of a normal distribution that is about as rare (Wallace 1959).
    pub(super) fn score(&self) -> f64 {
        let t_squared = self.log * self.log / self.variance;
        let factor = (8.0 * self.dof + 1.0) / (8.0 * self.dof + 3.0);
        factor * (self.dof * (t_squared / self.dof).ln_1p()).sqrt()
    }

    /// Returns the chance of a difference as large as this, either way, between runs that are equal.
    pub(super) fn p(&self) -> f64 {
        student::beyond(self.log.abs() / self.variance.sqrt(), self.dof)
    }
}

/// Returns how much a run is worth, as a share of an independent one.
pub(super) fn worth(persistence: f64) -> f64 {
    (1.0 - persistence) / (1.0 + persistence)
}

fn running(terms: impl Iterator<Item = f64>) -> Vec<f64> {
    let sums = terms.scan(0.0, |sum, term| {
        *sum += term;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

impl Segments {
    pub(super) fn new(logs: &[f64]) -> Self {
        // Sums of squares of small numbers keep their digits.
        let origin = logs.iter().sum::<f64>() / logs.len() as f64;
        let logs: Vec<f64> = logs.iter().map(|log| log - origin).collect();
        Self {
            origin,
            sums: running(logs.iter().copied()),
            squares: running(logs.iter().map(|log| log * log)),
            moments: running(logs.iter().enumerate().map(|(nth, log)| nth as f64 * log)),
            logs,
        }
    }

    /// Returns the runs.
    pub(super) fn logs(&self) -> impl Iterator<Item = f64> {
        self.logs.iter().map(|log| log + self.origin)
    }

    /// Returns the number of runs.
    pub(super) fn len(&self) -> usize {
        self.logs.len()
    }

    fn sum(&self, from: usize, to: usize) -> f64 {
        self.sums[to] - self.sums[from]
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        self.sum(from, to) / (to - from) as f64
    }

    /// Returns the level of a segment.
    pub(super) fn level(&self, from: usize, to: usize) -> f64 {
        self.origin + self.mean(from, to)
    }

    /// Returns the sum of squares around the mean of a segment.
    pub(super) fn squares(&self, from: usize, to: usize) -> f64 {
        let sum = self.sum(from, to);
        (self.squares[to] - self.squares[from] - sum * sum / (to - from) as f64).max(0.0)
    }

    /// Returns the sum of squares around a straight line.
    pub(super) fn squares_around_line(&self, from: usize, to: usize) -> f64 {
        let n = (to - from) as f64;
        let middle = from as f64 + (n - 1.0) / 2.0;
        let moment = self.moments[to] - self.moments[from] - middle * self.sum(from, to);
        (self.squares(from, to) - moment * moment / of_numbers(n)).max(0.0)
    }

    /// Returns how much a straight line rises from the first to the last run.
    pub(super) fn rise(&self, from: usize, to: usize) -> f64 {
        let n = (to - from) as f64;
        let middle = from as f64 + (n - 1.0) / 2.0;
        let moment = self.moments[to] - self.moments[from] - middle * self.sum(from, to);
        moment / of_numbers(n) * (n - 1.0)
    }

    /// Returns the difference of the segments before and after `at`: Student's, where the variance of each side is drawn towards
    /// the common one. Each run inherits the share `persistence` of the one before.
    pub(super) fn contrast(&self, from: usize, at: usize, to: usize, persistence: f64) -> Contrast {
        let sides = [(from, at), (at, to)].map(|(from, to)| ((to - from) as f64, self.squares(from, to)));
        let dof_common = sides[0].0 + sides[1].0 - 2.0;
        let common = ((sides[0].1 + sides[1].1) / dof_common).max(VARIANCE_MIN);
        let of_mean = |(n, squares): (f64, f64)| (squares + COMMON_RUNS * common) / (n - 1.0 + COMMON_RUNS) / n;
        let [first, second] = sides.map(of_mean);
        let dof_of = |(n, _): (f64, f64), part: f64| part * part / (n - 1.0 + COMMON_RUNS);
        let dof = (first + second).powi(2) / (dof_of(sides[0], first) + dof_of(sides[1], second));
        Contrast {
            log: self.mean(at, to) - self.mean(from, at),
            variance: (first + second) / worth(persistence),
            dof: (dof.min(dof_common) * worth(persistence)).max(1.0),
        }
    }
}

/// The sum of squares of `n` numbers in a row around their mean.
fn of_numbers(n: f64) -> f64 {
    n * (n * n - 1.0) / 12.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_runs() {
        let logs = [0.3, 0.1, 0.25, 0.9, 1.0, 1.1];
        let segments = Segments::new(&logs);
        let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
        let squares = |logs: &[f64]| logs.iter().map(|log| (log - mean(logs)).powi(2)).sum::<f64>();
        assert!((segments.level(1, 4) - mean(&logs[1..4])).abs() < 1e-12);
        assert!((segments.squares(0, 3) - squares(&logs[..3])).abs() < 1e-12);
        // On a line from 0.9 to 1.1 nothing is left.
        assert!(segments.squares_around_line(3, 6) < 1e-12 && (segments.rise(3, 6) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn with_equal_sides_a_contrast_is_students() {
        // Otava's tests have 0.99 < p < 1.01 for the first, and p < 0.001 for the second.
        let same = Segments::new(&[1.00, 1.02, 1.05, 0.95, 0.98, 1.00, 1.02, 1.05, 0.95, 0.98]);
        assert!(same.contrast(0, 5, 10, 0.0).p() > 0.99);
        let lower = Segments::new(&[1.00, 1.02, 1.05, 0.95, 0.98, 0.80, 0.82, 0.85, 0.79, 0.77]);
        let contrast = lower.contrast(0, 5, 10, 0.0);
        // By hand: means 1.0 and 0.806, variances 0.00145 and 0.00093, t = 8.89 with 8 degrees of freedom.
        assert!((contrast.log + 0.194).abs() < 1e-12 && (contrast.variance - 0.000_476).abs() < 1e-9, "{contrast:?}");
        assert!(contrast.p() < 0.001, "{}", contrast.p());
        let deviate = contrast.score();
        assert!((4.0..4.5).contains(&deviate), "p = 2e-5 of a normal distribution is 4.3: {deviate}");
    }

    #[test]
    fn equal_runs_are_no_change() {
        let contrast = Segments::new(&[0.5; 8]).contrast(0, 4, 8, 0.0);
        assert_eq!((contrast.log, contrast.p()), (0.0, 1.0));
    }
}
