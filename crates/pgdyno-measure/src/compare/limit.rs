//! Judges a change by a limit.

use super::Change;
use super::in_turns::runs_for;

/// More runs than this are not asked for.
pub const RUNS_MAX: u32 = 1000;

/// The verdict on a loss that must stay below a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The whole interval keeps it.
    Yes,
    /// The whole interval breaks it.
    No,
    /// The interval holds the limit: some of it keeps it, some breaks it.
    Unknown {
        /// Runs of each side that decide it in four of five cases, if the change is as measured; absent where it takes
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

/// The probability that the proposed number of runs shows the change, if it is as measured.
pub const POWER: f64 = 0.8;

/// Runs of each side that leave the limit out of the interval with [`POWER`], if the change is what was seen.
fn runs_needed(change: &Change, floor: f64, confidence: f64) -> Option<u32> {
    let distance = (change.ratio.ln() - floor.ln()).abs();
    runs_for(distance, change.variance_of_one, confidence, POWER, RUNS_MAX)
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
        // At 1 % noise and 2.08 % distance: (2.45 + 0.91) · 1 % / √4 = 1.7 %, and (2.78 + 0.94) · 1 % / √3 = 2.15 %.
        assert_eq!(runs(0.01), Some(4));
        // ((1.96 + 0.84) · 0.1 / 0.0208)² = 181
        assert_eq!(runs(0.1), Some(182));
        assert_eq!(runs(1.0), None);
    }
}
