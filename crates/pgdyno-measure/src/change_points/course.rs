//! The course of a series: levels with steps between them, and drifts.

use super::drift::{self, Drift};
use super::segments::Segments;

/// No series is taken for more persistent than this.
const PERSISTENCE_MAX: f64 = 0.6;

/// What runs usually inherit from the ones before, and how many runs this knowledge is worth: a short series does not show it.
const PERSISTENCE_USUAL: (f64, f64) = (0.15, 20.0);

/// Steps and drifts of a series.
#[derive(Debug)]
pub(super) struct Course {
    /// All steps, those of drifts too.
    pub(super) steps: Vec<usize>,
    /// The steps that are change points.
    pub(super) points: Vec<usize>,
    /// The drifts.
    pub(super) drifts: Vec<Drift>,
}

impl Course {
    /// Returns the course with these steps, some of which may be drifts.
    pub(super) fn of(segments: &Segments, steps: Vec<usize>) -> Self {
        let (drifts, points) = drift::distinguished_from_steps(segments, &steps);
        Self { steps, points, drifts }
    }

    /// Returns the course in which every step is one.
    pub(super) fn of_steps(steps: Vec<usize>) -> Self {
        Self { points: steps.clone(), steps, drifts: Vec::new() }
    }

    /// Returns the level at each run.
    pub(super) fn levels(&self, segments: &Segments) -> Vec<f64> {
        let ends = super::bounds(&self.steps, segments.len());
        let mut levels: Vec<f64> = Vec::with_capacity(segments.len());
        for (from, to) in ends.windows(2).map(|of| (of[0], of[1])) {
            levels.resize(to, segments.level(from, to));
        }
        for drift in &self.drifts {
            let (level, rise) = (segments.level(drift.from, drift.to), segments.rise(drift.from, drift.to));
            let last = (drift.to - drift.from - 1) as f64;
            for (nth, at) in (drift.from..drift.to).enumerate() {
                levels[at] = level + rise * (nth as f64 / last - 0.5);
            }
        }
        levels
    }

    /// Returns the distance of each run from its level.
    fn residuals(&self, segments: &Segments) -> Vec<f64> {
        segments.logs().zip(self.levels(segments)).map(|(log, level)| log - level).collect()
    }

    /// Returns the number of levels and slopes that were estimated.
    fn parameters(&self) -> f64 {
        (self.points.len() + 1 + self.drifts.len()) as f64
    }

    /// Returns the standard deviation of runs around their level.
    pub(super) fn noise(&self, segments: &Segments) -> f64 {
        let squares: f64 = self.residuals(segments).iter().map(|residual| residual * residual).sum();
        (squares / (segments.len() as f64 - self.parameters()).max(1.0)).sqrt()
    }

    /// Returns the share of its distance from the level that a run inherits from the one before.
    pub(super) fn persistence(&self, segments: &Segments) -> f64 {
        let residuals = self.residuals(segments);
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        if squares < f64::MIN_POSITIVE {
            return 0.0;
        }
        let products: f64 = (1..residuals.len())
            .filter(|nth| !self.points.contains(nth))
            .map(|nth| residuals[nth] * residuals[nth - 1])
            .sum();
        // Levels are estimated, too, which lowers the coefficient by (1 + 4ρ)/n for each (Marriott and Pope 1954).
        let (n, parameters) = (residuals.len() as f64, self.parameters());
        let shown = products / squares + parameters / n;
        let shown = shown / (1.0 - 4.0 * parameters / n).max(0.5);
        let (usual, weight) = PERSISTENCE_USUAL;
        ((n * shown + weight * usual) / (n + weight)).clamp(0.0, PERSISTENCE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::simulation::{Noise, autoregression};

    #[test]
    fn what_runs_inherit_is_seen_beside_steps() {
        for rho in [0.0, 0.3, 0.6] {
            let (mut noise, mut sum) = (Noise::new(41), 0.0);
            for _ in 0..200 {
                let mut series = autoregression(&mut noise, 100, rho);
                series[50..].iter_mut().for_each(|value| *value += 20.0);
                let segments = Segments::new(&series);
                sum += Course::of(&segments, vec![50]).persistence(&segments);
            }
            // A sixth of it is what is usual.
            let (mean, truth) = (sum / 200.0, (100.0 * rho + 20.0 * 0.15) / 120.0);
            assert!((mean - truth).abs() < 0.04, "{mean} for {truth}");
        }
    }

    #[test]
    fn a_drift_has_its_level_on_a_line() {
        let line: Vec<f64> = (0..30).map(|nth| 0.01 * f64::from(nth)).collect();
        let spread = |nth: usize| [0.001, -0.002, 0.001][nth % 3];
        let logs: Vec<f64> = line.iter().enumerate().map(|(nth, log)| log + spread(nth)).collect();
        let segments = Segments::new(&logs);
        let course = Course::of(&segments, vec![10, 20]);
        assert!(course.points.is_empty() && course.drifts.len() == 1);
        assert!(course.levels(&segments).iter().zip(&line).all(|(level, log)| (level - log).abs() < 0.001));
        assert!((0.001..0.002).contains(&course.noise(&segments)));
    }
}
