//! The part of a difference of means that could be due to chance.

use super::mean;

/// Limit of a series' persistence: beyond it nothing could ever be decided.
const PERSISTENCE_MAX: f64 = 0.97;

/// Returns the long-run variance of the residuals of a series after `fitted` parameters were removed: that of the
/// mean of n values, times n.
///
/// An autoregression of order 1. Its coefficient is too low in short series, by (`fitted` (1 + ρ) + 3 ρ) / n to first
/// order (Marriott and Pope 1954, for one mean); this is corrected.
pub(super) fn long_run_variance(residuals: &[f64], fitted: f64) -> f64 {
    let n = residuals.len() as f64;
    let squares: f64 = residuals.iter().map(|v| v * v).sum();
    if squares <= 0.0 || n <= fitted + 3.0 {
        return 0.0;
    }
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let persistence = (products / squares + fitted / n) / (1.0 - (fitted + 3.0) / n);
    let persistence = persistence.clamp(0.0, PERSISTENCE_MAX);
    let fresh: f64 = residuals.windows(2).map(|pair| (pair[1] - persistence * pair[0]).powi(2)).sum();
    fresh / (n - 1.0 - fitted).max(1.0) / (1.0 - persistence).powi(2)
}

/// Returns the residuals of a series with one level between the `borders`, which are positions in it, ascending.
pub(super) fn around_levels(series: &[f64], borders: &[usize]) -> Vec<f64> {
    let mut residuals = Vec::with_capacity(series.len());
    let ends = borders.iter().copied().chain([series.len()]);
    let mut begin = 0;
    for end in ends {
        let level = mean(&series[begin..end]);
        residuals.extend(series[begin..end].iter().map(|v| v - level));
        begin = end;
    }
    residuals
}

/// Returns by how many standard errors the means of `series` before and from `at` differ, with the long-run
/// `variance`. A constant series differs by infinitely many, or by none.
pub(super) fn difference(series: &[f64], at: usize, variance: f64) -> f64 {
    let (n, before) = (series.len() as f64, at as f64);
    let weight = before * (n - before) / n;
    let seen = (mean(&series[..at]) - mean(&series[at..])).abs() * weight.sqrt();
    if seen > 0.0 { seen / variance.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::simulation::{Noise, autoregression};

    #[test]
    fn the_variance_is_that_of_the_long_run() {
        for (rho, n) in [(0.0, 100), (0.5, 100), (0.8, 300)] {
            let mut noise = Noise::new(1);
            let variances: Vec<f64> = (0..300)
                .map(|_| {
                    let series = autoregression(&mut noise, n, rho);
                    long_run_variance(&around_levels(&series, &[n / 2]), 2.0)
                })
                .collect();
            let truth = (1.0 + rho) / (1.0 - rho);
            // A few series with much too high values pull the mean up: the coefficient is in the denominator.
            let reported = mean(&variances) / truth;
            assert!((0.85..1.35).contains(&reported), "{rho}: {reported}");
        }
    }

    #[test]
    fn levels_are_taken_out() {
        assert_eq!(around_levels(&[1.0, 3.0, 10.0, 10.0, 13.0], &[2]), [-1.0, 1.0, -1.0, -1.0, 2.0]);
        assert_eq!(around_levels(&[2.0, 4.0], &[]), [-1.0, 1.0]);
        assert_eq!((long_run_variance(&[0.0; 9], 1.0), long_run_variance(&[1.0, -1.0], 1.0)), (0.0, 0.0));
    }
}
