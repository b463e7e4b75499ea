//! Latency histograms.

use hdrhistogram::Histogram;

/// The greatest latency that a histogram tells apart: one hour. Larger ones count as one hour in
/// percentiles; mean and maximum are exact.
const MAX_LATENCY_NS: u64 = 3_600_000_000_000;

/// A distribution of latencies in nanoseconds, to three significant digits.
///
/// Source: HdrHistogram (G. Tene); the error of a percentile is at most 0.1 %.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    histogram: Histogram<u64>,
    sum_ns: u128,
    /// Exact, where the histogram knows only its bucket.
    min_ns: u64,
    max_ns: u64,
}

impl Default for Latency {
    fn default() -> Self {
        // These bounds are constants that hdrhistogram accepts (low >= 1, high >= 2 * low, digits <= 5).
        #[expect(clippy::unwrap_used, reason = "constant arguments that every test here uses")]
        let histogram = Histogram::new_with_bounds(1, MAX_LATENCY_NS, 3).unwrap();
        Self { histogram, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Latency {
    /// Adds one latency. Cannot fail: what is out of range is clamped.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.histogram.saturating_record(latency_ns);
        self.sum_ns += u128::from(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Adds another distribution to this one.
    pub fn merge(&mut self, other: &Self) {
        // Both have the same bounds, the only reason for `add` to fail.
        let same_bounds = self.histogram.add(&other.histogram);
        debug_assert!(same_bounds.is_ok());
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many latencies there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The arithmetic mean, exact; 0 without latencies.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ns as f64 / self.count() as f64 }
    }

    /// The figures that reports show; `None` without latencies.
    #[must_use]
    pub fn percentiles(&self) -> Option<Percentiles> {
        (self.count() > 0).then(|| {
            // A bucket's upper end may lie beyond the greatest latency in it.
            let at = |q| self.histogram.value_at_quantile(q).min(self.max_ns);
            Percentiles {
                count: self.count(),
                mean: self.mean_ns(),
                stddev: self.histogram.stdev(),
                min: self.min_ns,
                p50: at(0.50),
                p90: at(0.90),
                p95: at(0.95),
                p99: at(0.99),
                p99_9: at(0.999),
                max: self.max_ns,
            }
        })
    }

    /// The histogram, for writing it to a file.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }
}

/// Figures of a distribution, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    /// How many latencies.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// The least.
    pub min: u64,
    /// The median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// The greatest.
    pub max: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_thousandth_of_the_truth() {
        let mut latency = Latency::default();
        for i in 1..=100_000u64 {
            latency.record(i * 1_000);
        }
        let p = latency.percentiles().unwrap();
        for (got, truth) in [
            (p.p50, 50_000_000u64),
            (p.p90, 90_000_000),
            (p.p99, 99_000_000),
            (p.p99_9, 99_900_000),
            (p.max, 100_000_000),
        ] {
            assert!(got.abs_diff(truth) <= truth / 1000, "{got} for {truth}");
        }
        assert!((p.mean - 50_000_500.0).abs() < 1e-3, "the mean is exact: {}", p.mean);
    }

    #[test]
    fn nothing_recorded_has_no_percentiles() {
        assert_eq!(Latency::default().percentiles(), None);
    }

    #[test]
    fn more_than_an_hour_has_the_percentiles_of_an_hour() {
        let mut latency = Latency::default();
        latency.record(2 * MAX_LATENCY_NS);
        let p = latency.percentiles().unwrap();
        assert_eq!((p.count, p.max), (1, 2 * MAX_LATENCY_NS), "the maximum is exact all the same");
        assert!(p.p50.abs_diff(MAX_LATENCY_NS) < MAX_LATENCY_NS / 500, "{}", p.p50);
    }

    #[test]
    fn merging_is_adding_up() {
        let (mut a, mut b) = (Latency::default(), Latency::default());
        a.record(1_000);
        b.record(3_000);
        a.merge(&b);
        assert_eq!((a.count(), a.mean_ns()), (2, 2_000.0));
        let p = a.percentiles().unwrap();
        assert_eq!((p.min, p.max), (1_000, 3_000));
    }
}
