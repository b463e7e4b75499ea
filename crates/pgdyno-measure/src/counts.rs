//! Buckets of a histogram of latencies, for recording: an index from a shift and a table of counts.

use hdrhistogram::Histogram;

/// The largest latency with a bucket of its own: 24 hours. Larger ones count as 24 hours.
pub(crate) const MAX_LATENCY_NS: u64 = 24 * 3_600_000_000_000;

/// Significant binary digits of a bucket: three decimal digits, as in HdrHistogram.
const DIGITS: u32 = 11;
/// Buckets of values with the same number of binary digits.
const HALF: usize = 1 << (DIGITS - 1);
const BUCKETS: usize = index(MAX_LATENCY_NS) + 1;

/// Returns a bucket's number, the same as HdrHistogram's for values from 1 ns and three digits.
#[inline]
const fn index(ns: u64) -> usize {
    let shift = 64 - DIGITS - (ns | ((1 << DIGITS) - 1)).leading_zeros();
    ((shift as usize) << (DIGITS - 1)) + (ns >> shift) as usize
}

/// Returns the least value of a bucket.
fn value(index: usize) -> u64 {
    match (index / HALF).checked_sub(1) {
        None | Some(0) => index as u64,
        Some(shift) => ((index % HALF + HALF) as u64) << shift,
    }
}

/// Number of latencies in each bucket: 290 kB.
///
/// Source: HdrHistogram (G. Tene). Its Rust library needs four times as many instructions to record, so this table
/// records latencies and the library reads them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts(Box<[u64]>);

impl Counts {
    pub(crate) fn new() -> Self {
        Self(vec![0; BUCKETS].into_boxed_slice())
    }

    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        if let Some(count) = self.0.get_mut(index(ns.min(MAX_LATENCY_NS))) {
            *count += 1;
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }

    /// Returns the counts of the library's histogram. Clamps values out of range.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Self {
        let mut counts = Self::new();
        for value in histogram.iter_recorded() {
            let count = &mut counts.0[index(value.value_iterated_to().min(MAX_LATENCY_NS))];
            *count = count.saturating_add(value.count_at_value());
        }
        counts
    }

    /// Returns the sum of all counts; `None` beyond 64 bits.
    pub(crate) fn total(&self) -> Option<u64> {
        self.0.iter().try_fold(0u64, |sum, count| sum.checked_add(*count))
    }

    /// Returns the library's histogram.
    pub(crate) fn histogram(&self) -> Histogram<u64> {
        // These bounds are constants that hdrhistogram accepts (low >= 1, high >= 2 * low, digits <= 5).
        #[expect(clippy::unwrap_used, reason = "constant arguments that every test here uses")]
        let mut histogram = Histogram::new_with_bounds(1, MAX_LATENCY_NS, 3).unwrap();
        for (index, count) in self.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram.saturating_record_n(value(index), *count);
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// For all values it equals the histogram that the library makes.
        #[test]
        fn the_histogram_is_the_librarys(
            latencies in proptest::collection::vec((0u32..48, any::<u64>()).prop_map(|(bits, n)| n >> (63 - bits)), 0..200)
        ) {
            let mut counts = Counts::new();
            let mut truth = Histogram::<u64>::new_with_bounds(1, MAX_LATENCY_NS, 3).unwrap();
            for ns in latencies {
                counts.record(ns);
                truth.saturating_record(ns.min(MAX_LATENCY_NS));
            }
            let histogram = counts.histogram();
            prop_assert_eq!(histogram.len(), truth.len());
            let buckets = |h: &Histogram<u64>| h.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect::<Vec<_>>();
            prop_assert_eq!(buckets(&histogram), buckets(&truth));
            for quantile in [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
                let (ours, theirs) = (histogram.value_at_quantile(quantile), truth.value_at_quantile(quantile));
                prop_assert!(truth.equivalent(ours, theirs), "{} for {}", ours, theirs);
            }
        }
    }

    #[test]
    fn every_bucket_is_the_one_of_its_least_value() {
        for n in 0..BUCKETS {
            assert_eq!(index(value(n)), n);
        }
        assert_eq!(value(index(2047)), 2047);
        assert_eq!(value(index(2049)), 2048);
    }
}
