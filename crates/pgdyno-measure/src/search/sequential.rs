//! The decision after repeated measurements.
//!
//! The margins of a load are assumed to be draws from a normal distribution, mixed with a few stalls. So the centre
//! of a load's margins is their median, and the spread is estimated from the deviations of all repeated measurements
//! of the search, each limited to [`STALL`], together with a prior. After each measurement a one-sided t test at
//! [`ERROR`] / [`REPEATS`] is made in both directions: by Bonferroni's inequality a verdict is wrong with a
//! probability of about [`ERROR`] at most, however often it is tested.

use crate::mean::median;

/// The probability of a wrong verdict on one load, under the assumptions of the test.
pub const ERROR: f64 = 0.05;
/// Limit of measurements of one load; what is not decided by then is not decidable.
pub const REPEATS: usize = 5;
/// The normal quantile of 1 − [`ERROR`] / [`REPEATS`].
const Z: f64 = 2.326_347_874;
/// Margins beyond this, a factor of e, count as this one.
pub(super) const SATURATED: f64 = 1.0;
/// Prior difference of repeated measurements: 10 %.
const ASSUMED_SPREAD: f64 = 0.1;
/// A deviation above this is a stall, and counts as this one.
const STALL: f64 = 0.25;
/// The standard error of a median relative to that of a mean, for many draws of a normal distribution.
const MEDIAN: f64 = 1.2533;
/// A load that needs measurements longer than this is so close to the limit that the estimate itself is chance.
const LENGTHENING_MAX: f64 = 16.0;
/// Weight of the prior, in differences.
const ASSUMED_WEIGHT: f64 = 3.0;

/// Verdict on a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadVerdict {
    /// It meets the objective.
    Kept,
    /// It does not meet the objective.
    Broken,
    /// Undecided.
    Open,
}

/// The spread of repeated measurements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// Standard deviation.
    pub(super) spread: f64,
    /// Degrees of freedom.
    pub(super) freedom: f64,
}

impl Noise {
    /// Estimates it from the margins of each load. Margins beyond the scale are ignored.
    pub(super) fn of<'a>(points: impl Iterator<Item = &'a [f64]>) -> Self {
        let (mut squares, mut freedom) = (ASSUMED_WEIGHT * ASSUMED_SPREAD.powi(2), ASSUMED_WEIGHT);
        for margins in points.filter(|margins| margins.iter().any(|margin| margin.abs() < SATURATED)) {
            let Some(middle) = median(margins) else { continue };
            squares += margins.iter().map(|margin| (margin - middle).abs().min(STALL).powi(2)).sum::<f64>();
            freedom += margins.len() as f64 - 1.0;
        }
        Self { spread: (squares / freedom).sqrt(), freedom }
    }

    pub(super) fn verdict(&self, margins: &[f64]) -> LoadVerdict {
        let Some(middle) = median(margins) else { return LoadVerdict::Open };
        // The median of one or two is their mean.
        let loss = if margins.len() > 2 { MEDIAN } else { 1.0 };
        let least = t_quantile(self.freedom) * self.spread * loss / (margins.len() as f64).sqrt();
        match middle {
            // Whatever the spread: nothing on the scale supports the other verdict.
            _ if margins.iter().all(|margin| *margin <= -SATURATED) => LoadVerdict::Broken,
            _ if margins.iter().all(|margin| *margin >= SATURATED) => LoadVerdict::Kept,
            middle if middle >= least => LoadVerdict::Kept,
            middle if middle <= -least => LoadVerdict::Broken,
            _ => LoadVerdict::Open,
        }
    }

    /// Returns how many times as long a measurement must be to decide margins with this median; see
    /// [`Search::lengthening`](super::Search::lengthening). The spread is that of the search or of these margins, whichever is larger:
    /// stalls count in full.
    pub(super) fn lengthening(&self, margins: &[f64]) -> Option<f64> {
        let n = margins.len() as f64;
        if n < 3.0 {
            return None;
        }
        let middle = median(margins)?;
        let own = (margins.iter().map(|margin| (margin - middle).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let error = t_quantile(self.freedom) * self.spread.max(own) * MEDIAN / (REPEATS as f64).sqrt();
        let factor = (error / middle).powi(2);
        (1.0..=LENGTHENING_MAX).contains(&factor).then_some(factor)
    }
}

/// Returns the quantile of Student's t for [`Z`], by the expansion of Cornish and Fisher (Abramowitz and Stegun,
/// 26.7.5): 2 % too small at 3 degrees of freedom, exact to three digits from 6.
pub(super) fn t_quantile(freedom: f64) -> f64 {
    let power = |n: i32| Z.powi(n);
    Z + (power(3) + Z) / (4.0 * freedom)
        + (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z) / (96.0 * freedom.powi(2))
        + (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z) / (384.0 * freedom.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // One-sided 1 %.
        for (freedom, quantile) in [(3.0, 4.541), (6.0, 3.143), (10.0, 2.764), (30.0, 2.457), (1e9, 2.326)] {
            assert!((t_quantile(freedom) / quantile - 1.0).abs() < 0.025, "{freedom}: {}", t_quantile(freedom));
        }
    }

    #[test]
    fn what_is_far_is_decided_at_once_and_what_is_near_after_repeats() {
        let verdict = |margins: &[f64]| Noise::of(std::iter::once(margins)).verdict(margins);
        assert_eq!([verdict(&[0.5]), verdict(&[-0.5])], [LoadVerdict::Kept, LoadVerdict::Broken]);
        assert_eq!(verdict(&[0.2]), LoadVerdict::Open);
        assert_eq!(verdict(&[0.2, 0.22, 0.18]), LoadVerdict::Kept);
        assert_eq!(verdict(&[-0.2, -0.22, -0.18]), LoadVerdict::Broken);
        assert_eq!(verdict(&[0.5, -0.5, 0.4, -0.2]), LoadVerdict::Open);
        assert_eq!(verdict(&[-1.0]), LoadVerdict::Broken);
    }

    #[test]
    fn what_is_undecided_says_how_much_longer_to_measure() {
        let factor = |margins: &[f64]| Noise::of(std::iter::once(margins)).lengthening(margins);
        let near = factor(&[0.10, -0.05, 0.12, 0.02, 0.15]).unwrap();
        assert!((2.0..4.0).contains(&near), "{near}");
        // Stalls count in full.
        let wild = factor(&[0.3, -0.9, 0.8, 0.35, -0.1]).unwrap();
        assert!((8.0..16.0).contains(&wild), "{wild}");
        assert_eq!(factor(&[0.01, -0.2, 0.3, -0.1, 0.02]), None, "its side is chance");
        assert_eq!([factor(&[0.1, 0.1]), factor(&[0.5, 0.5, 0.5])], [None; 2], "too few, and decided");
    }
}
