//! Whether throughput held steady over the measured window.

/// How throughput went over the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Standard deviation of the intervals over their mean.
    pub variation: f64,
    /// Change from the first to the last third of the window, as a share of the mean; negative is slower.
    pub trend: f64,
    /// Whether the trend stands out of the variation and is larger than 5 %.
    pub drifts: bool,
}

/// Looks at throughput by interval. `None` for fewer than nine intervals: three to a third.
///
/// The trend is the difference of the means of the last and the first third. It is called a drift when it
/// exceeds 5 % of the mean and twice its own standard error (Welch).
#[must_use]
pub fn steadiness(per_interval: &[f64]) -> Option<Steadiness> {
    let third = per_interval.len() / 3;
    if third < 3 {
        return None;
    }
    let (mean, variance) = moments(per_interval);
    if mean <= 0.0 {
        return None;
    }
    let (first, first_variance) = moments(&per_interval[..third]);
    let (last, last_variance) = moments(&per_interval[per_interval.len() - third..]);
    let error = ((first_variance + last_variance) / third as f64).sqrt();
    let change = last - first;
    let drifts = change.abs() > 0.05 * mean && change.abs() > 2.0 * error;
    Some(Steadiness { variation: variance.sqrt() / mean, trend: change / mean, drifts })
}

/// Mean and sample variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_series_does_not_drift() {
        let level: Vec<f64> = (0..30).map(|i| 1000.0 + f64::from(i % 7) * 10.0).collect();
        let s = steadiness(&level).unwrap();
        assert!(!s.drifts && s.variation < 0.05, "{s:?}");
    }

    #[test]
    fn a_decline_is_a_drift() {
        let decline: Vec<f64> = (0..30).map(|i| 1000.0 - f64::from(i) * 10.0).collect();
        let s = steadiness(&decline).unwrap();
        assert!(s.drifts && s.trend < -0.2, "{s:?}");
    }

    #[test]
    fn a_few_intervals_tell_nothing() {
        assert_eq!(steadiness(&[1.0; 8]), None);
        assert_eq!(steadiness(&[0.0; 30]), None);
    }
}
