//! The part of the window's start that belongs to the warm-up.

use super::noise::{around_levels, difference, long_run_variance};
use super::{RELEVANT, mean};

/// Intervals per batch (MSER-5).
const BATCH: usize = 5;

/// Minimum number of intervals.
const INTERVALS_MIN: usize = 30;

/// Of all starts with nearly the least error the shortest is taken: beyond the true one chance decides.
const ENOUGH: f64 = 1.1;

/// Returns the number of standard errors that the start removed by MSER-5 does not exceed in 19 of 20 series without
/// a warm-up, with the remaining noise.
const BOUND: f64 = 3.2;

/// Returns how many intervals at the window's start should have been warm-up; `None` if the start is like the rest,
/// and if the rest has not settled: if half of the window would be removed.
///
/// MSER-5 (White 1997; White, Cobb and Spratt 2000) finds the start without which the mean of the rest has the least
/// error. It finds one in series without a warm-up, too; so the start must differ from the rest by more than chance,
/// and by 5 %.
#[must_use]
pub fn warm_up(series: &[f64]) -> Option<usize> {
    if series.len() < INTERVALS_MIN {
        return None;
    }
    let batches: Vec<f64> = series.chunks_exact(BATCH).map(mean).collect();
    let half = batches.len() / 2;
    let uncertainty = |left_out: usize| {
        let rest = &batches[left_out..];
        let level = mean(rest);
        rest.iter().map(|v| (v - level).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
    };
    let uncertainties: Vec<f64> = (0..=half).map(uncertainty).collect();
    let least = uncertainties.iter().copied().reduce(f64::min)?;
    let left_out = uncertainties.iter().position(|uncertainty| *uncertainty <= ENOUGH * least)?;
    // The optimum is at the end of the search: the rest has not settled.
    if left_out == 0 || uncertainties.last() == Some(&least) {
        return None;
    }
    let at = left_out * BATCH;
    let (begin, rest) = (mean(&series[..at]), mean(&series[at..]));
    // A start with a trend of its own is no noise.
    let variance = long_run_variance(&around_levels(&series[at..], &[]), 1.0);
    let differs = difference(series, at, variance) > BOUND && rest > 0.0;
    (differs && (begin - rest).abs() > RELEVANT * rest).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::simulation::Noise;

    fn series(n: u32, level: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut noise = Noise::new(6);
        (0..n).map(|nth| level(f64::from(nth)) + 10.0 * noise.normal()).collect()
    }

    #[test]
    fn a_begin_that_is_slower_is_warm_up() {
        let step = series(120, |nth| if nth < 20.0 { 600.0 } else { 1000.0 });
        assert!(warm_up(&step).is_some_and(|at| (20..=35).contains(&at)), "{:?}", warm_up(&step));
        let filling = series(300, |nth| 1000.0 - 600.0 * (-nth / 10.0).exp());
        assert!(warm_up(&filling).is_some_and(|at| (20..=60).contains(&at)), "{:?}", warm_up(&filling));
    }

    #[test]
    fn a_begin_that_is_faster_is_warm_up_too() {
        let step = series(120, |nth| if nth < 15.0 { 1500.0 } else { 1000.0 });
        assert!(warm_up(&step).is_some_and(|at| (15..=30).contains(&at)), "{:?}", warm_up(&step));
    }

    #[test]
    fn a_level_window_and_one_that_never_settles_have_none() {
        assert_eq!(warm_up(&series(120, |_| 1000.0)), None);
        assert_eq!(warm_up(&series(120, |nth| if nth < 100.0 { 600.0 } else { 1000.0 })), None);
        assert_eq!(warm_up(&series(120, |nth| 500.0 + 5.0 * nth)), None);
        assert_eq!(warm_up(&series(20, |nth| if nth < 5.0 { 600.0 } else { 1000.0 })), None);
        assert_eq!(warm_up(&[0.0; 60]), None);
    }
}
