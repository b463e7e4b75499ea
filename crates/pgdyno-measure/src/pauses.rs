//! What a tool that disturbs a measurement costs, found within the measurement: the tool pauses for some intervals, which are
//! compared with those around them.

use crate::mean::{mean, reach};

/// One interval in so many is paused.
const EVERY: u64 = 5;

/// The first one, which has neighbours from three on.
const FIRST: u64 = 2;

/// Returns true if the interval with this number of the window, from 0, is to be paused.
#[must_use]
pub fn is_paused(interval: u64) -> bool {
    interval % EVERY == FIRST
}

/// Returns the share of a window of this many seconds, in intervals of one second, in which the tool was at work.
#[must_use]
pub fn share_at_work(window_s: f64) -> f64 {
    let whole = window_s.floor().max(0.0) as u64;
    let begun_s = if is_paused(whole) { window_s.fract() } else { 0.0 };
    let paused_s = (0..whole).filter(|nth| is_paused(*nth)).count() as f64 + begun_s;
    if window_s > 0.0 { 1.0 - paused_s / window_s } else { 1.0 }
}

/// What a tool cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// By how much transactions took longer while it was at work, as a share of their time without it; below 0 by chance.
    pub slower: f64,
    /// Both ends of the 95 % interval of that; `None` with a single pause.
    pub interval: Option<[f64; 2]>,
    /// Number of pauses that it rests on.
    pub pauses: usize,
}

/// Returns the cost, from the mean time of the transactions of each interval of the window; `None` where none ended in an interval.
/// A drift of the window cancels out, as each pause is compared with the intervals before and after it.
#[must_use]
pub fn cost(times: &[Option<f64>]) -> Option<Cost> {
    let at = |nth: usize| times.get(nth).copied().flatten().filter(|time| *time > 0.0);
    let ratio = |nth: usize| {
        let around = (at(nth.checked_sub(1)?)? + at(nth + 1)?) / 2.0;
        Some((around / at(nth)?).ln())
    };
    let ratios: Vec<f64> = (0..times.len()).filter(|nth| is_paused(*nth as u64)).filter_map(ratio).collect();
    let mean = mean(&ratios)?;
    let share = |log: f64| log.exp() - 1.0;
    let interval = reach(&ratios).map(|reach| [share(mean - reach), share(mean + reach)]);
    Some(Cost { slower: share(mean), interval, pauses: ratios.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_slows_transactions_is_found_out_also_where_they_become_slower_by_themselves() {
        let drifting = |nth: u64| (1.0 + 0.01 * nth as f64) * if is_paused(nth) { 1.0 } else { 1.3 };
        let cost = cost(&(0..30).map(|nth| Some(drifting(nth))).collect::<Vec<_>>()).unwrap();
        assert_eq!(cost.pauses, 6);
        assert!((cost.slower - 0.3).abs() < 1e-9, "{cost:?}");
        let [low, high] = cost.interval.unwrap();
        assert!(low <= cost.slower && cost.slower <= high && high - low < 0.01, "{cost:?}");
    }

    #[test]
    fn a_window_without_its_pauses_is_what_the_tool_was_at_work() {
        let rounded = |window_s: f64| (share_at_work(window_s) * 1e3).round() / 1e3;
        assert_eq!([0.0, 2.0, 2.5, 3.0, 8.0, 10.0].map(rounded), [1.0, 1.0, 0.8, 0.667, 0.75, 0.8]);
    }

    #[test]
    fn a_short_window_has_one_pause_or_none() {
        assert_eq!(cost(&[Some(1.0); 3]), None);
        let found = cost(&[Some(1.1), Some(1.1), Some(1.0), Some(1.1)]).unwrap();
        assert_eq!((found.pauses, found.interval), (1, None));
        assert_eq!(cost(&[Some(1.0), None, Some(1.0), Some(1.0)]), None, "nothing ended beside the pause");
        assert_eq!(cost(&[]), None);
    }
}
