//! Transactions that had not ended at the end of the measured window. Their latency is at least their age.

use std::borrow::Cow;

use crate::Latency;

/// A transaction that had begun and not ended at the end of the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Its kind.
    pub txn: usize,
    /// Its age since its first byte was sent.
    pub service_ns: u64,
    /// Its age since its intended start.
    pub response_ns: u64,
}

/// Returns a test of ages: true of one that is above the 99th percentile and the mean of `latency`, so that it can only raise them.
///
/// A percentile takes as long to find as thousands of ages to compare: it is found once.
pub fn lower_bounds(latency: &Latency) -> impl Fn(u64) -> bool + use<> {
    let (p99_ns, mean_ns) = (latency.quantile_ns(0.99), latency.mean_ns());
    move |age_ns| p99_ns.is_some_and(|p99_ns| age_ns > p99_ns) && age_ns as f64 > mean_ns
}

/// Returns `latency` with those ages that are lower bounds of it: where a server hangs, what waits for it must not be missing.
/// Younger transactions are as far as any other when the window ends, and say nothing.
#[must_use]
pub fn with_ages(latency: &Latency, ages_ns: impl Iterator<Item = u64>) -> Cow<'_, Latency> {
    let mut ages_ns = ages_ns.peekable();
    if ages_ns.peek().is_none() {
        return Cow::Borrowed(latency);
    }
    let is_lower_bound = lower_bounds(latency);
    let mut old = ages_ns.filter(|age_ns| is_lower_bound(*age_ns)).peekable();
    if old.peek().is_none() {
        return Cow::Borrowed(latency);
    }
    let mut whole = latency.clone();
    old.for_each(|age_ns| whole.record(age_ns));
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_counts_with_its_age_and_what_is_merely_under_way_does_not() {
        let mut latency = Latency::default();
        (1..=390).for_each(|ms| latency.record(ms * 1_000));
        assert!(matches!(with_ages(&latency, [1_000, 380_000].into_iter()), Cow::Borrowed(_)));
        let whole = with_ages(&latency, [200_000, 6_000_000_000, 6_000_000_001].into_iter());
        assert_eq!((whole.count(), whole.max_ns()), (392, 6_000_000_001));
        assert!(whole.quantile_ns(0.99).unwrap() >= latency.quantile_ns(0.99).unwrap());
        // Two of 392 move the median by one transaction.
        let moved_ns = whole.quantile_ns(0.5).unwrap() - latency.quantile_ns(0.5).unwrap();
        assert!(moved_ns < 2_100, "{moved_ns}");
        let (none, sums) = (Latency::default(), Latency::sums_only());
        assert_eq!(with_ages(&none, [9].into_iter()).count() + with_ages(&sums, [9].into_iter()).count(), 0);
    }
}
