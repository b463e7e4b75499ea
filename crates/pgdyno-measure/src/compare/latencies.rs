//! Percentiles of one run, and how uncertain they are.

use std::collections::BTreeMap;

use super::Change;
use super::estimate::{Estimate, Spread, spread};
use super::student;

/// Histograms distinguish latencies to three digits: a bucket is at most so wide, relative to what is in it.
const RESOLUTION: f64 = 1.0 / 1024.0;

/// The latencies of a run by interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies {
    /// Of each interval: latencies in ascending order, and how often each was seen.
    intervals: Vec<Vec<(u64, u64)>>,
    /// All intervals together, each latency once.
    merged: Vec<(u64, u64)>,
    count: u64,
}

impl Latencies {
    /// From the latencies of each interval in any order, with how often each was seen.
    #[must_use]
    pub fn new(mut intervals: Vec<Vec<(u64, u64)>>) -> Self {
        let mut merged = BTreeMap::new();
        for interval in &mut intervals {
            interval.sort_unstable();
            for (latency, count) in interval.iter() {
                *merged.entry(*latency).or_insert(0) += count;
            }
        }
        let count = merged.values().sum();
        Self { intervals, merged: merged.into_iter().collect(), count }
    }

    /// The latency that the share `quantile` (0 to 1) of all does not exceed; `None` without latencies.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let rank = ((quantile * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let reaches = |(_, count): &&(u64, u64)| {
            seen += count;
            seen >= rank
        };
        self.merged.iter().find(reaches).map(|(latency, _)| *latency)
    }

    /// Returns the uncertainty of the share of latencies that are at most the one at `quantile`.
    ///
    /// An interval adds to that how many of its latencies are above, less as many as were to be expected: a series like
    /// throughput, with the same neighbours.
    fn spread_of_share(&self, quantile: f64) -> Option<Spread> {
        let at = self.quantile_ns(quantile)?;
        let below: u64 = self.merged.iter().take_while(|(latency, _)| *latency <= at).map(|(_, count)| count).sum();
        let above_share = 1.0 - below as f64 / self.count as f64;
        let excess = |interval: &Vec<(u64, u64)>| {
            let all: u64 = interval.iter().map(|(_, count)| count).sum();
            let above: u64 =
                interval.iter().rev().take_while(|(latency, _)| *latency > at).map(|(_, count)| count).sum();
            above as f64 - above_share * all as f64
        };
        let series: Vec<f64> = self.intervals.iter().map(excess).collect();
        let spread = spread(&series)?;
        let each = self.count as f64 / self.intervals.len() as f64;
        Some(Spread { variance: spread.variance / (each * each), ..spread })
    }

    /// Returns the logarithms of the latencies at both ends of an interval of `reach` standard deviations around `quantile`
    /// (Woodruff 1952). An end beyond what was measured is open: infinite.
    fn ends(&self, quantile: f64, spread: Spread, reach: f64) -> (f64, f64) {
        let step = reach * spread.variance.sqrt();
        let (low, high) = (quantile - step, quantile + step);
        let log = |share: f64| self.quantile_ns(share).map(|ns| (ns.max(1) as f64).ln());
        let bottom = log(low).filter(|_| low > 0.0).map_or(f64::NEG_INFINITY, |log| log - RESOLUTION);
        // The rank of the upper end must be one that was measured, and not the very last.
        let is_measured = (1.0 - high) * self.count as f64 >= 1.0;
        let top = log(high).filter(|_| is_measured).map_or(f64::INFINITY, |log| log + RESOLUTION);
        (bottom, top)
    }

    /// Returns the change of a percentile from one run to another; its interval is open (0 or infinite) towards an end that
    /// that too few latencies support. `None` where either has too few intervals, or both ends are open. `confidence` is in
    /// (0, 1).
    #[must_use]
    pub fn change(base: &Self, new: &Self, quantile: f64, confidence: f64) -> Option<Change> {
        let p = 0.5 + confidence / 2.0;
        let side = |latencies: &Self| {
            let spread = latencies.spread_of_share(quantile)?;
            let reach = student::quantile(p, spread.dof);
            let (low, high) = latencies.ends(quantile, spread, reach);
            let log = (latencies.quantile_ns(quantile)?.max(1) as f64).ln();
            let distance = match (low.is_finite(), high.is_finite()) {
                (true, true) => (high - low) / 2.0,
                (true, false) => log - low,
                (false, true) => high - log,
                (false, false) => return None,
            };
            let deviation = distance / reach;
            Some((spread, Estimate { log, variance: deviation * deviation, dof: spread.dof }))
        };
        let ((base_spread, from), (new_spread, to)) = (side(base)?, side(new)?);
        let welch = Change::between(&from, &to, confidence);
        // Each side's ends at the reach that both together have; then the distances of both, as they are to either
        // side (MOVER: Zou and Donner 2008).
        let variance = from.variance + to.variance;
        let reach = (welch.high / welch.ratio).ln() / variance.sqrt();
        let (base_low, base_high) = base.ends(quantile, base_spread, reach);
        let (new_low, new_high) = new.ends(quantile, new_spread, reach);
        let log = to.log - from.log;
        let low = log - (to.log - new_low).hypot(base_high - from.log);
        let high = log + (new_high - to.log).hypot(from.log - base_low);
        (low.is_finite() || high.is_finite()).then_some(Change { low: low.exp(), high: high.exp(), ..welch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(intervals: usize, factor: u64) -> Latencies {
        Latencies::new((0..intervals).map(|_| (1..=1000).map(|ms| (ms * factor, 1)).collect()).collect())
    }

    #[test]
    fn percentiles_are_those_of_all_intervals_together() {
        let latencies = Latencies::new(vec![vec![(30, 1), (10, 2), (30, 1)], vec![(20, 4), (10, 1)], vec![]]);
        let at = |quantile| latencies.quantile_ns(quantile).unwrap();
        assert_eq!((at(0.0), at(0.33), at(0.34), at(0.77), at(0.78), at(1.0)), (10, 10, 20, 20, 30, 30));
        assert_eq!(Latencies::default().quantile_ns(0.5), None);
    }

    #[test]
    fn what_is_the_same_in_every_interval_is_as_certain_as_histograms_are() {
        let change = Latencies::change(&even(20, 100), &even(20, 110), 0.9, 0.95).unwrap();
        assert!((change.ratio - 1.1).abs() < 1e-9, "{change:?}");
        assert!(change.low > 1.095 && change.high < 1.105, "{change:?}");
    }

    #[test]
    fn too_few_intervals_have_no_interval_and_too_few_latencies_an_open_one() {
        assert_eq!(Latencies::change(&even(9, 1), &even(20, 1), 0.5, 0.95), None);
        // Of 200 latencies the last one alone is the 99.9th percentile.
        let few = Latencies::new((0..20).map(|i| (1..=10).map(|ms| (ms * 7 + i % 3, 1)).collect()).collect());
        // Three of 200 are slow, each in another interval: the 98th percentile may be one of them.
        let slow = |i: i32| if [1, 2, 4].contains(&i) { (500, 1) } else { (11, 1) };
        let rare = Latencies::new((0..20).map(|i| (1..=9).map(|ms| (ms, 1)).chain([slow(i)]).collect()).collect());
        let many = even(20, 1);
        let change = Latencies::change(&rare, &many, 0.98, 0.95).unwrap();
        assert!(change.low == 0.0 && change.high.is_finite(), "the base may be anything above: {change:?}");
        let change = Latencies::change(&many, &rare, 0.98, 0.95).unwrap();
        assert!(change.low > 0.0 && change.high.is_infinite(), "{change:?}");
        assert_eq!(Latencies::change(&rare, &rare, 0.98, 0.95), None, "both ends are open");
        assert!(Latencies::change(&few, &few, 0.5, 0.95).is_some_and(|change| change.high.is_finite()));
    }
}
