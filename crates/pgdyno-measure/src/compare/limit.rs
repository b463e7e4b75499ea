//! Whether a change keeps within a limit.

use super::Change;
use super::student;

/// More runs than this are not asked for.
pub const RUNS_MAX: u32 = 1000;

/// What is known of a loss that is to stay below a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The whole interval keeps it.
    Yes,
    /// The whole interval breaks it.
    No,
    /// The interval holds the limit: some of it keeps it, some breaks it.
    Unknown {
        /// So many runs of each side would probably decide it, if the change is what was seen; absent where it would take
        /// more than [`RUNS_MAX`].
        runs: Option<u32>,
    },
}

impl Held {
    /// Judges a ratio of which a fall below `floor` (0.97: a loss of 3 %) is too much. `confidence` is in (0, 1).
    #[must_use]
    pub fn judge(change: &Change, floor: f64, confidence: f64) -> Self {
        match change {
            _ if change.high < floor => Self::No,
            _ if change.low >= floor => Self::Yes,
            _ => Self::Unknown { runs: runs_needed(change, floor, confidence) },
        }
    }
}

/// Runs of each side whose interval would leave the limit out, if their means were what was seen.
fn runs_needed(change: &Change, floor: f64, confidence: f64) -> Option<u32> {
    let distance = (change.ratio.ln() - floor.ln()).abs();
    let decides = |n: u32| {
        let n = f64::from(n);
        student::quantile(0.5 + confidence / 2.0, 2.0 * n - 2.0) * (change.variance_of_one / n).sqrt() < distance
    };
    // More runs are never worse: the first that decides is found by halving.
    let (mut low, mut high) = (2, RUNS_MAX);
    if !decides(high) {
        return None;
    }
    while low < high {
        let middle = u32::midpoint(low, high);
        if decides(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(ratio: f64, low: f64, high: f64, deviation: f64) -> Change {
        Change { ratio, low, high, variance_of_one: deviation * deviation }
    }

    #[test]
    fn only_a_whole_interval_beyond_the_limit_breaks_it() {
        let judge = |ratio, low, high| Held::judge(&change(ratio, low, high, 0.01), 0.97, 0.95);
        assert_eq!(judge(0.95, 0.94, 0.96), Held::No);
        assert_eq!(judge(0.98, 0.975, 0.985), Held::Yes, "slower, and not by so much");
        assert_eq!(judge(1.02, 0.98, 1.06), Held::Yes);
        assert!(matches!(judge(0.96, 0.94, 0.98), Held::Unknown { .. }));
    }

    #[test]
    fn runs_that_would_decide_are_as_many_as_do() {
        let runs = |deviation| match Held::judge(&change(0.95, 0.9, 1.0, deviation), 0.97, 0.95) {
            Held::Unknown { runs } => runs,
            held => panic!("{held:?}"),
        };
        // 2.5 % between means, at 1 % noise: t(4) · 1 % / √3 = 1.6 %, and t(2) · 1 % / √2 = 3.0 %, of 2.08 % distance.
        assert_eq!(runs(0.01), Some(3));
        // (1.96 · 0.1 / 0.0208)² = 88.6
        assert_eq!(runs(0.1), Some(90));
        assert_eq!(runs(1.0), None);
    }
}
