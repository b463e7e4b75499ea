//! The response times of both sides of an experiment, counted in bins of equal width on a logarithmic axis.

use serde::{Deserialize, Serialize};

/// Bins in a decade, a tenfold response time.
const BINS_PER_DECADE: f64 = 20.0;

/// Transactions with response times in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbResponseBin {
    /// The upper end of the range in nanoseconds. The lower end is 10.9 % less: 20 bins make a decade.
    pub up_to_ns: u64,
    /// Number of transactions.
    pub count: u64,
}

impl AbResponseBin {
    /// The upper end of a bin divided by its lower end.
    pub const RATIO: f64 = 1.122_018_454_301_963_4;
}

/// The response times of both sides over all slices, the shortest first. Bins without transactions are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbResponses {
    /// Of A.
    pub a: Vec<AbResponseBin>,
    /// Of B.
    pub b: Vec<AbResponseBin>,
}

impl AbResponses {
    /// Returns true if nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.a.is_empty() && self.b.is_empty()
    }

    /// Counts response times in nanoseconds of A (0) or B (1).
    pub fn add(&mut self, side: usize, response_ns: &[(u64, u64)]) {
        let bins = if side == 0 { &mut self.a } else { &mut self.b };
        for (ns, count) in response_ns.iter().filter(|(_, count)| *count > 0) {
            let up_to_ns = end_of_bin(*ns);
            match bins.binary_search_by_key(&up_to_ns, |bin| bin.up_to_ns) {
                Ok(at) => bins[at].count += count,
                Err(at) => bins.insert(at, AbResponseBin { up_to_ns, count: *count }),
            }
        }
    }
}

/// Returns the upper end of the bin of a response time.
fn end_of_bin(ns: u64) -> u64 {
    // A response time at the end of a bin belongs to it, whatever its last bit is.
    let bin = ((ns.max(1) as f64).log10() * BINS_PER_DECADE - 1e-9).ceil();
    10_f64.powf(bin / BINS_PER_DECADE).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_times_are_counted_by_side_in_bins_of_equal_ratio() {
        let mut responses = AbResponses::default();
        assert!(responses.is_empty());
        responses.add(0, &[(1_000_000, 3), (1_000_001, 2), (1_100_000, 1), (7, 0)]);
        responses.add(0, &[(900_000, 1), (1_000_000, 4)]);
        responses.add(1, &[(10_000_000, 5)]);
        let counted = |bins: &[AbResponseBin]| bins.iter().map(|bin| (bin.up_to_ns, bin.count)).collect::<Vec<_>>();
        assert_eq!(counted(&responses.a), [(1_000_000, 8), (1_122_018, 3)]);
        assert_eq!(counted(&responses.b), [(10_000_000, 5)]);
        assert!(!responses.is_empty());
        assert!((AbResponseBin::RATIO.powf(BINS_PER_DECADE) - 10.0).abs() < 1e-12);
    }
}
