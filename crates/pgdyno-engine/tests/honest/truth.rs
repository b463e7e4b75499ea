//! What a histogram must say of latencies that are known one by one.

use pgdyno_measure::Latency;

/// Asserts that `reported` is what it must be of `truth`: count, mean, least and greatest exactly, each percentile within a
/// bucket of the histogram, which is a thousandth.
#[track_caller]
pub(crate) fn agrees(what: &str, reported: &Latency, truth: &[u64]) {
    let mut truth = truth.to_vec();
    truth.sort_unstable();
    let sum: u128 = truth.iter().map(|ns| u128::from(*ns)).sum();
    let ends = (truth.first().copied().unwrap_or_default(), truth.last().copied().unwrap_or_default());
    assert_eq!(
        (reported.count(), reported.sum_ns(), (reported.min_ns(), reported.max_ns())),
        (truth.len() as u64, sum, ends),
        "{what}: count, sum, least and greatest"
    );
    for per_mille in [500_u32, 900, 950, 990, 999, 1_000] {
        let (percent, rank) = (f64::from(per_mille) / 10.0, (per_mille as usize * truth.len()).div_ceil(1_000));
        let Some(exact) = truth.get(rank.max(1) - 1).copied() else { continue };
        let got = reported.quantile_ns(percent / 100.0).unwrap();
        assert!((exact..=exact + exact / 1_000).contains(&got), "{what}: p{percent} is {got}, and in truth {exact}");
    }
}
