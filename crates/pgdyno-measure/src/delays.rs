//! Delays of the driver itself: a distribution that is very cheap to record.

use crate::Percentiles;

/// Buckets per power of two.
const STEPS: u64 = 16;
/// Bits of a bucket's number within a power of two.
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Longer delays, of two minutes and more, count as this one in percentiles; mean and maximum are exact.
const MAX_DELAY_NS: u64 = (1 << 37) - 1;
const BUCKETS: usize = bucket(MAX_DELAY_NS) + 1;

/// A distribution of delays in nanoseconds, with a resolution of a sixteenth.
///
/// Needs a tenth of the work and a fiftieth of the memory of [`crate::Latency`], because one is recorded for every
/// read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Allocated with the first delay.
    counts: Option<Box<[u64; BUCKETS]>>,
    sum_ns: u64,
    max_ns: u64,
}

/// Returns the bucket of a delay up to [`MAX_DELAY_NS`]: one for each below 16 ns, then 16 for each power of two.
#[inline]
const fn bucket(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let shift = ns.ilog2() - STEP_BITS;
    // The highest bit is in (ns >> shift), and counts as one more power of two.
    (shift as u64 * STEPS + (ns >> shift)) as usize
}

/// Returns the least and the greatest delay of a bucket.
const fn bounds(bucket: usize) -> (u64, u64) {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return (bucket, bucket);
    }
    let shift = bucket / STEPS - 1;
    let least = (STEPS + bucket % STEPS) << shift;
    (least, least + (1 << shift) - 1)
}

impl Delays {
    /// Adds one delay.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let counts = self.counts.get_or_insert_with(|| Box::new([0; BUCKETS]));
        counts[bucket(ns.min(MAX_DELAY_NS))] += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds another distribution to this one.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.counts, &other.counts) {
            (Some(mine), Some(theirs)) => mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine += theirs),
            (mine @ None, theirs) => mine.clone_from(theirs),
            (Some(_), None) => {}
        }
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the numbers and counts of the buckets that are not empty.
    pub(crate) fn by_bucket(&self) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.counts.iter().flat_map(|counts| counts.iter().copied().enumerate());
        counts.filter(|(_, count)| *count > 0)
    }

    /// Returns the distribution with these counts by bucket; `None` if there is no such bucket.
    pub(crate) fn of(by_bucket: &[(usize, u64)], sum_ns: u64, max_ns: u64) -> Option<Self> {
        let mut counts = (!by_bucket.is_empty()).then(|| Box::new([0; BUCKETS]));
        for (bucket, count) in by_bucket {
            *counts.as_mut()?.get_mut(*bucket)? = *count;
        }
        Some(Self { counts, sum_ns, max_ns })
    }

    /// Returns the buckets that are not empty: their bounds and counts.
    fn filled(&self) -> impl Iterator<Item = ((u64, u64), u64)> {
        self.by_bucket().map(|(nth, count)| (bounds(nth), count))
    }

    /// Returns the number of delays.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.filled().map(|(_, count)| count).sum()
    }

    /// Returns the exact sum of all delays.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Returns the exact maximum; 0 without delays.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Returns the figures of reports; `None` without delays. Mean and maximum are exact, the others the upper end of
    /// their bucket; the deviation is that of the buckets' middles.
    #[must_use]
    pub fn percentiles(&self) -> Option<Percentiles> {
        let ((min, _), _) = self.filled().next()?;
        let count = self.count();
        let mean = self.sum_ns as f64 / count as f64;
        let squares = self.filled().map(|((least, greatest), n)| {
            let middle = (least + greatest) as f64 / 2.0;
            (middle - mean).powi(2) * n as f64
        });
        let at = |quantile: f64| {
            let rank = ((count as f64 * quantile).ceil() as u64).max(1);
            let mut below = 0;
            let reached = self.filled().find(|(_, n)| {
                below += n;
                below >= rank
            });
            reached.map_or(self.max_ns, |((_, greatest), _)| greatest.min(self.max_ns))
        };
        Some(Percentiles {
            count,
            mean,
            stddev: (squares.sum::<f64>() / count as f64).sqrt(),
            min,
            max: self.max_ns,
            ..Percentiles::by(at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_without_gap_or_overlap() {
        assert_eq!(bounds(0), (0, 0));
        for nth in 1..BUCKETS {
            assert_eq!(bounds(nth).0, bounds(nth - 1).1 + 1, "bucket {nth}");
        }
        assert_eq!(bounds(BUCKETS - 1).1, MAX_DELAY_NS);
    }

    #[test]
    fn percentiles_are_those_of_the_delays_to_a_sixteenth() {
        let mut delays = Delays::default();
        (1..=100_000).for_each(|us| delays.record(us * 1_000));
        let p = delays.percentiles().unwrap();
        for (got, truth) in [(p.p50, 50_000_000u64), (p.p90, 90_000_000), (p.p99, 99_000_000), (p.p99_9, 99_900_000)] {
            assert!((truth..=truth + truth / 16).contains(&got), "{got} for {truth}");
        }
        assert_eq!((p.count, p.mean, p.max), (100_000, 50_000_500.0, 100_000_000));
        assert!((p.stddev / 28_867_513.0 - 1.0).abs() < 0.01, "{}", p.stddev);
    }

    #[test]
    fn nothing_recorded_has_no_percentiles_and_the_longest_delay_has_a_bucket() {
        let mut delays = Delays::default();
        assert_eq!(delays.percentiles(), None);
        delays.record(u64::MAX);
        assert_eq!((delays.count(), delays.max_ns()), (1, u64::MAX));
    }

    proptest! {
        #[test]
        fn every_delay_lies_in_its_bucket_and_merging_adds(delays in proptest::collection::vec(0..=MAX_DELAY_NS, 1..50), cut in 0usize..50) {
            let of = |delays: &[u64]| {
                let mut all = Delays::default();
                delays.iter().for_each(|ns| all.record(*ns));
                all
            };
            for ns in &delays {
                let (least, greatest) = bounds(bucket(*ns));
                prop_assert!((least..=greatest).contains(ns) && greatest - least <= ns / STEPS);
            }
            let (first, second) = delays.split_at(cut.min(delays.len()));
            let mut merged = of(first);
            merged.merge(&of(second));
            prop_assert_eq!(merged, of(&delays));
        }
    }
}
