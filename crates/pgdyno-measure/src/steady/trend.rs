//! The trend over the window.

use super::noise::long_run_variance;
use super::{RELEVANT, mean};

/// A window is steady if a trend of this share of the mean is ruled out.
pub const STEADY_BELOW: f64 = 0.10;

/// Returns the number of standard errors that a trend by chance does not exceed in 19 of 20 series, for `n`
/// intervals: two, and more in short series, whose persistence is hard to estimate.
fn bound(n: f64) -> f64 {
    2.0 + 40.0 / n
}

/// Throughput over the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Standard deviation of the intervals over their mean.
    pub variation: f64,
    /// Change from the first to the last third of the window, as a share of the mean; negative is slower.
    pub trend: f64,
    /// The trend that chance alone exceeds in one of twenty runs, as a share of the mean.
    pub chance: f64,
    /// Whether the trend is more than that and larger than 5 %.
    pub drifts: bool,
}

/// Verdict on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowVerdict {
    /// A trend of [`STEADY_BELOW`] or more is ruled out: the measured trend plus chance is below it.
    Steady,
    /// A trend that is more than chance.
    Drifts,
    /// Neither is shown: there are too few intervals, or they vary too much.
    Unknown,
}

impl Steadiness {
    /// Returns the verdict.
    #[must_use]
    pub fn verdict(&self) -> WindowVerdict {
        match self {
            _ if self.drifts => WindowVerdict::Drifts,
            _ if self.trend.abs() + self.chance < STEADY_BELOW => WindowVerdict::Steady,
            _ => WindowVerdict::Unknown,
        }
    }
}

/// Computes the steadiness of throughput by interval. Returns `None` for fewer than nine intervals, three per third,
/// or if the mean is 0.
///
/// The trend is the difference of the means of the last and the first third, compared with the long-run variance of
/// the residuals of a straight line.
#[must_use]
pub fn steadiness(per_interval: &[f64]) -> Option<Steadiness> {
    let third = per_interval.len() / 3;
    let mean_of_all = mean(per_interval);
    if third < 3 || mean_of_all <= 0.0 {
        return None;
    }
    let n = per_interval.len() as f64;
    let change = mean(&per_interval[per_interval.len() - third..]) - mean(&per_interval[..third]);
    let variance = long_run_variance(&around_line(per_interval), 2.0);
    let (trend, chance) = (change / mean_of_all, bound(n) * (2.0 * variance / third as f64).sqrt() / mean_of_all);
    let squares: f64 = per_interval.iter().map(|v| (v - mean_of_all).powi(2)).sum();
    Some(Steadiness {
        variation: (squares / (n - 1.0)).sqrt() / mean_of_all,
        trend,
        chance,
        drifts: trend.abs() > RELEVANT && trend.abs() > chance,
    })
}

/// Returns the residuals of the least-squares line of a series.
fn around_line(series: &[f64]) -> Vec<f64> {
    let (middle, level) = ((series.len() as f64 - 1.0) / 2.0, mean(series));
    let at = |nth: usize| nth as f64 - middle;
    let spread: f64 = (0..series.len()).map(|nth| at(nth).powi(2)).sum();
    let slope = series.iter().enumerate().map(|(nth, v)| at(nth) * (v - level)).sum::<f64>() / spread;
    series.iter().enumerate().map(|(nth, v)| v - level - slope * at(nth)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_series_does_not_drift() {
        let level: Vec<f64> = (0..30).map(|i| 1000.0 + f64::from(i % 7) * 10.0).collect();
        let s = steadiness(&level).unwrap();
        assert!(s.verdict() == WindowVerdict::Steady && s.variation < 0.05, "{s:?}");
    }

    #[test]
    fn a_decline_is_a_drift() {
        let decline: Vec<f64> = (0..30).map(|i| 1000.0 - f64::from(i) * 10.0 + f64::from(i % 3)).collect();
        let s = steadiness(&decline).unwrap();
        assert!(s.verdict() == WindowVerdict::Drifts && s.trend < -0.2, "{s:?}");
    }

    #[test]
    fn a_few_wild_intervals_show_neither() {
        let wild = [900.0, 1500.0, 200.0, 1100.0, 300.0, 800.0, 100.0, 500.0, 200.0];
        let s = steadiness(&wild).unwrap();
        assert!(s.trend < -0.6 && s.verdict() == WindowVerdict::Unknown, "{s:?}");
        assert_eq!(steadiness(&[1.0; 8]), None);
        assert_eq!(steadiness(&[0.0; 30]), None);
    }
}
