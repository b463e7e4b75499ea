//! Latency histograms.

use hdrhistogram::Histogram;

use crate::bytes::Sums;
use crate::counts::Counts;

/// What a quotient of a percentage and 100 may be too large by.
const ROUNDING: f64 = 1e-12;

/// A distribution of latencies in nanoseconds, to three significant digits. More than 24 hours count as 24 hours
/// in percentiles; mean and maximum are exact.
///
/// Source: HdrHistogram (G. Tene); the error of a percentile is at most 0.1 %.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// Allocated with the first latency: a histogram takes 290 kB, and scripts may have thousands of statements that
    /// are never executed.
    counts: Option<Counts>,
    /// Whether it has no histogram.
    sums_only: bool,
    count: u64,
    sum_ns: u128,
    /// An integer, so that neither the order of merging nor a long run costs precision. 2^35 squares of 24 hours fit.
    sum_squares_ns2: u128,
    /// Exact, unlike the histogram's buckets.
    min_ns: u64,
    max_ns: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Self { counts: None, sums_only: false, count: 0, sum_ns: 0, sum_squares_ns2: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Latency {
    /// Returns a distribution with count, mean, deviation, minimum and maximum, and without percentiles.
    #[must_use]
    pub fn sums_only() -> Self {
        Self { sums_only: true, ..Self::default() }
    }

    /// Adds one latency. Clamps values out of range.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        match &mut self.counts {
            Some(counts) => counts.record(latency_ns),
            None => self.begin(latency_ns),
        }
        self.count += 1;
        self.sum_ns += u128::from(latency_ns);
        self.sum_squares_ns2 = self.sum_squares_ns2.saturating_add(u128::from(latency_ns) * u128::from(latency_ns));
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Adds the first latency to a new histogram, if there is to be one.
    #[inline(never)]
    fn begin(&mut self, latency_ns: u64) {
        if !self.sums_only {
            self.counts.insert(Counts::new()).record(latency_ns);
        }
    }

    /// Adds another distribution. If one of them has no percentiles, the sum has none: they would cover only a part.
    pub fn merge(&mut self, other: &Self) {
        self.sums_only |= other.sums_only;
        match (&mut self.counts, &other.counts) {
            (mine, _) if self.sums_only => *mine = None,
            (Some(mine), Some(theirs)) => mine.add(theirs),
            (mine @ None, theirs) => mine.clone_from(theirs),
            (Some(_), None) => {}
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.sum_squares_ns2 = self.sum_squares_ns2.saturating_add(other.sum_squares_ns2);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the number of latencies.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of all latencies.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Returns the sum of their squares.
    #[must_use]
    pub fn sum_squares_ns2(&self) -> f64 {
        self.sum_squares_ns2 as f64
    }

    /// Returns the minimum; 0 without latencies.
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min_ns }
    }

    /// Returns the maximum; 0 without latencies.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Returns the exact arithmetic mean; 0 without latencies.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ns as f64 / self.count() as f64 }
    }

    /// Returns the standard deviation of all latencies; 0 without latencies.
    ///
    /// √(n·Σx² − (Σx)²) / n, in integers up to the root, so that nearly equal latencies lose no precision.
    #[must_use]
    pub fn stddev_ns(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let (n, sum) = (self.count as f64, self.sum_ns as f64);
        let whole = u128::from(self.count).checked_mul(self.sum_squares_ns2).zip(self.sum_ns.checked_mul(self.sum_ns));
        let numerator = match whole {
            Some((squares, square)) => squares.saturating_sub(square) as f64,
            // Beyond 128 bits.
            None => (n * self.sum_squares_ns2 as f64 - sum * sum).max(0.0),
        };
        numerator.sqrt() / n
    }

    /// Returns the latency that the share `quantile` (0 to 1) of all does not exceed; `None` without latencies.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        self.histogram().map(|h| self.at(&h, quantile))
    }

    fn at(&self, histogram: &Histogram<u64>, quantile: f64) -> u64 {
        // 99.9 / 100 is above 0.999: of 1,000 latencies that would be the last one. A bucket's upper end may exceed the greatest
        // latency in it.
        histogram.value_at_quantile(quantile - ROUNDING).min(self.max_ns)
    }

    /// Returns the figures of reports; `None` without latencies, or without percentiles.
    #[must_use]
    pub fn percentiles(&self) -> Option<Percentiles> {
        let histogram = self.histogram()?;
        Some(Percentiles {
            count: self.count(),
            mean: self.mean_ns(),
            stddev: self.stddev_ns(),
            min: self.min_ns,
            max: self.max_ns,
            ..Percentiles::by(|quantile| self.at(&histogram, quantile))
        })
    }

    /// Returns a histogram, to write it to a file; `None` without latencies, or without percentiles.
    #[must_use]
    pub fn histogram(&self) -> Option<Histogram<u64>> {
        self.counts.as_ref().map(Counts::histogram)
    }

    /// Returns its figures without the histogram.
    pub(crate) fn sums(&self) -> Sums {
        let Self { counts: _, sums_only, count, sum_ns, sum_squares_ns2, min_ns, max_ns } = *self;
        Sums { sums_only, count, sum_ns, sum_squares_ns2, min_ns, max_ns }
    }

    /// Returns the distribution with these figures and this histogram; `None` if they do not belong together.
    pub(crate) fn of(sums: &Sums, histogram: Option<&Histogram<u64>>) -> Option<Self> {
        let Sums { sums_only, count, sum_ns, sum_squares_ns2, min_ns, max_ns } = *sums;
        let counts = histogram.map(Counts::of);
        let belongs = match &counts {
            None => sums_only,
            Some(counts) => !sums_only && counts.total() == Some(count),
        };
        belongs.then_some(Self { counts, sums_only, count, sum_ns, sum_squares_ns2, min_ns, max_ns })
    }

    /// Returns true if there is a [`Latency::histogram`].
    #[must_use]
    pub fn has_histogram(&self) -> bool {
        self.counts.is_some()
    }
}

/// Figures of a distribution, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Percentiles {
    /// Number of latencies.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// The minimum.
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
    /// The maximum.
    pub max: u64,
}

impl Percentiles {
    /// Returns the quantiles of reports from `at`; the other figures are 0.
    pub(crate) fn by(at: impl Fn(f64) -> u64) -> Self {
        Self { p50: at(0.50), p90: at(0.90), p95: at(0.95), p99: at(0.99), p99_9: at(0.999), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::MAX_LATENCY_NS;

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
    fn sums_alone_give_mean_and_deviation_and_no_percentiles() {
        let mut latency = Latency::sums_only();
        for ns in [2, 4, 4, 4, 5, 5, 7, 9] {
            latency.record(ns);
        }
        assert_eq!((latency.mean_ns(), latency.stddev_ns(), latency.min_ns(), latency.max_ns()), (5.0, 2.0, 2, 9));
        assert_eq!((latency.percentiles(), latency.quantile_ns(0.5)), (None, None));
    }

    #[test]
    fn a_percentile_whose_rank_is_whole_is_the_latency_of_that_rank() {
        let mut latency = Latency::default();
        (1..=1_000).for_each(|ns| latency.record(ns));
        let of = |percent: f64| latency.quantile_ns(percent / 100.0).unwrap();
        assert_eq!([of(99.9), of(99.0), of(50.0), of(100.0)], [999, 990, 500, 1_000]);
        assert_eq!(latency.percentiles().unwrap().p99_9, 999);
    }

    #[test]
    fn the_deviation_of_long_latencies_that_are_nearly_alike_is_exact() {
        let mut latency = Latency::sums_only();
        for i in 0..1_000_000u64 {
            latency.record(3_600_000_000_000 + i % 2 * 2);
        }
        assert_eq!((latency.stddev_ns(), latency.mean_ns()), (1.0, 3_600_000_000_001.0));
    }

    #[test]
    fn sums_beyond_128_bits_have_a_deviation_still() {
        let mut latency = Latency::sums_only();
        for _ in 0..3 {
            latency.record(0);
            latency.record(1 << 62);
        }
        let truth = (1u64 << 61) as f64;
        assert!((latency.stddev_ns() / truth - 1.0).abs() < 1e-6, "{}", latency.stddev_ns());
    }

    #[test]
    fn a_sum_with_a_part_that_has_no_percentiles_has_none() {
        let (mut full, mut sums) = (Latency::default(), Latency::sums_only());
        full.record(1_000);
        sums.record(3_000);
        let mut merged = full.clone();
        merged.merge(&sums);
        assert_eq!((merged.count(), merged.percentiles(), merged.quantile_ns(0.5)), (2, None, None));
        sums.merge(&full);
        assert_eq!((sums.count(), sums.percentiles()), (2, None));
        sums.record(1);
        assert!(sums.histogram().is_none());
        let mut empty = Latency::default();
        empty.merge(&full);
        assert_eq!(empty, full, "an empty one takes the other's form");
    }

    #[test]
    fn a_histogram_is_made_once_and_never_grows() {
        let mut latency = Latency::default();
        assert!(latency.histogram().is_none(), "none before the first latency");
        latency.record(1);
        let place = |latency: &Latency| latency.counts.as_ref().map(std::ptr::from_ref);
        let made = place(&latency);
        let buckets = latency.histogram().unwrap().distinct_values();
        for ns in [0, 1_000, MAX_LATENCY_NS, u64::MAX] {
            latency.record(ns);
        }
        assert_eq!((place(&latency), latency.histogram().unwrap().len()), (made, 5));
        assert_eq!(latency.histogram().unwrap().distinct_values(), buckets);
    }

    #[test]
    fn more_than_a_day_has_the_percentiles_of_a_day() {
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
