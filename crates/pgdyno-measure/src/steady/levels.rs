//! Changes of the level of throughput.

use super::noise::{around_levels, difference, long_run_variance};
use super::{RELEVANT, mean};

/// Minimum number of intervals.
const INTERVALS_MIN: usize = 20;

/// Minimum number of intervals in a level, and largest number of parts.
const LEVEL_MIN: usize = 5;
const LEVELS_MAX: usize = 20;

/// Number of splits that are tried together: a dip needs two, and each alone is hidden while the other counts as
/// noise.
const AHEAD: usize = 2;

/// Returns the number of standard errors that the best split of a series without a change does not exceed in 19 of 20
/// cases, for `n` intervals. Andrews (1993) has 3.1 for very long series; short ones need more, because their
/// persistence is hard to estimate.
fn bound(n: f64) -> f64 {
    3.2 + 120.0 / n
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// The first interval of the new level.
    pub at: usize,
    /// Mean since the last change.
    pub before: f64,
    /// Mean until the next change.
    pub after: f64,
}

/// Returns the changes of level of a series, in order; none with fewer than 20 intervals.
///
/// Binary segmentation (Vostrikova 1981): of all possible splits, the one with the largest difference of means, as
/// long as that difference exceeds the noise after the split, and is more than 5 % of the mean. A level has at least
/// five intervals, and a twentieth of the series: one stall is no level, nor is the dip of each checkpoint.
#[must_use]
pub fn level_changes(series: &[f64]) -> Vec<LevelChange> {
    let (n, whole) = (series.len(), mean(series));
    if n < INTERVALS_MIN || whole <= 0.0 {
        return Vec::new();
    }
    let level_min = (n / LEVELS_MAX).max(LEVEL_MIN);
    let mut borders: Vec<usize> = Vec::new();
    while let Some(more) = (1..=AHEAD).find_map(|ahead| split(series, &borders, level_min, ahead)) {
        borders = more;
    }
    let level = |begin: usize, end: usize| mean(&series[begin..end]);
    let change = |at: &usize| {
        let (begin, end) = around(&borders, n, *at);
        LevelChange { at: *at, before: level(begin, *at), after: level(*at, end) }
    };
    borders.iter().map(change).collect()
}

/// Returns the borders with `ahead` more, each the best in its turn; `None` if one of these does not exceed the
/// remaining noise.
fn split(series: &[f64], borders: &[usize], level_min: usize, ahead: usize) -> Option<Vec<usize>> {
    let (n, relevant) = (series.len(), RELEVANT * mean(series));
    let (mut more, mut fresh) = (borders.to_vec(), Vec::new());
    for _ in 0..ahead {
        let at = best_split(series, &more, level_min)?;
        more.insert(more.partition_point(|border| *border < at), at);
        fresh.push(at);
    }
    let variance = long_run_variance(&around_levels(series, &more), more.len() as f64 + 1.0);
    let stands_out = |at: &usize| {
        let (begin, end) = around(&more, n, *at);
        let change = (mean(&series[*at..end]) - mean(&series[begin..*at])).abs();
        difference(&series[begin..end], at - begin, variance) > bound(n as f64) && change > relevant
    };
    fresh.iter().all(stands_out).then_some(more)
}

/// Returns the borders before and after the one at `at`.
fn around(borders: &[usize], n: usize, at: usize) -> (usize, usize) {
    let begin = borders.iter().rev().find(|border| **border < at).copied().unwrap_or(0);
    (begin, borders.iter().find(|border| **border > at).copied().unwrap_or(n))
}

/// Returns the split that reduces the sum of squares of all parts most.
fn best_split(series: &[f64], borders: &[usize], level_min: usize) -> Option<usize> {
    let begins = [0].into_iter().chain(borders.iter().copied());
    let ends = borders.iter().copied().chain([series.len()]);
    let of_part = |(begin, end): (usize, usize)| {
        let (at, gain) = best_split_of(&series[begin..end], level_min)?;
        Some((begin + at, gain))
    };
    begins.zip(ends).filter_map(of_part).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}

fn best_split_of(part: &[f64], level_min: usize) -> Option<(usize, f64)> {
    let (n, total) = (part.len(), part.iter().sum::<f64>());
    if n < 2 * level_min {
        return None;
    }
    let mut before: f64 = part[..level_min].iter().sum();
    let gain = |at: usize, before: f64| {
        let (left, right) = (at as f64, (n - at) as f64);
        (before / left - (total - before) / right).powi(2) * left * right / n as f64
    };
    let mut best = (level_min, gain(level_min, before));
    for at in level_min + 1..=n - level_min {
        before += part[at - 1];
        let gain = gain(at, before);
        if gain > best.1 {
            best = (at, gain);
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns levels with these lengths, with a ripple.
    fn series(levels: &[(f64, usize)]) -> Vec<f64> {
        let level = |(level, n): &(f64, usize)| vec![*level; *n];
        let flat: Vec<f64> = levels.iter().flat_map(level).collect();
        flat.iter().enumerate().map(|(nth, v)| v + ((nth * 7) % 11) as f64).collect()
    }

    #[test]
    fn every_change_is_found_where_it_is() {
        let found = level_changes(&series(&[(1000.0, 30), (700.0, 20), (1000.0, 40)]));
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [30, 50]);
        let [down, up] = [found[0], found[1]];
        assert!((down.before / down.after - 1005.0 / 705.0).abs() < 0.01, "{down:?}");
        assert!((up.before - down.after).abs() < 1e-9 && (up.after - 1005.0).abs() < 2.0, "{up:?}");
    }

    #[test]
    fn a_stall_a_ripple_and_a_small_change_are_none() {
        for levels in [
            &[(1000.0, 60)][..],
            &[(1000.0, 30), (0.0, 1), (1000.0, 30)],
            &[(1000.0, 30), (970.0, 30)],
            &[(1000.0, 9), (10.0, 9)],
            &[(0.0, 60)],
        ] {
            assert_eq!(level_changes(&series(levels)), [], "{levels:?}");
        }
        assert_eq!(level_changes(&[5.0; 60]), []);
        assert_eq!(level_changes(&[]), []);
    }

    #[test]
    fn a_change_without_any_noise_is_certain() {
        let steps: Vec<f64> = [[10.0; 20], [20.0; 20]].concat();
        assert_eq!(level_changes(&steps), [LevelChange { at: 20, before: 10.0, after: 20.0 }]);
    }
}
