//! Figures of repeated measurements.

use std::time::Duration;

use pgdyno_text::units;

/// Times of the same thing, measured again and again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Times {
    sorted: Vec<Duration>,
}

impl Times {
    /// Returns these times.
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self { sorted: times }
    }

    /// Returns the time that a share of all times does not exceed; zero without times.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let rank = (share * self.sorted.len() as f64).ceil() as usize;
        self.sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// Returns the median.
    pub(crate) fn median(&self) -> Duration {
        self.quantile(0.5)
    }
}

/// Returns a time in milliseconds: `0.123 ms`.
pub(crate) fn ms(time: Duration) -> String {
    format!("{} ms", units::ms(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)))
}

/// Returns a time in milliseconds, as a number.
pub(crate) fn in_ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_measured_times() {
        let times = Times::of((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!([0.5, 0.99, 1.0].map(|share| times.quantile(share).as_millis()), [50, 99, 100]);
        assert_eq!(Times::default().median(), Duration::ZERO);
        assert_eq!(ms(Duration::from_micros(1500)), "1.50 ms");
    }
}
