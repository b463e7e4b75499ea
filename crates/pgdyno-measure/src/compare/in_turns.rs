//! The change from one side to the other where runs of both were done in turns and the machine may have drifted.

use super::Change;
use super::student;

/// A figure of one run, and when it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Seconds since any moment that all runs share.
    pub at_s: f64,
    /// The figure, which is positive.
    pub value: f64,
}

/// Fewer runs of both sides together leave too few degrees of freedom beside two means and a slope.
const RUNS_MIN: usize = 6;

/// The most by which a slope may inflate the variance of the change. Runs in turns (ABAB, ABBA, random) are below 1.5; AAABBB is
/// at 6 and more: there, drift and change cannot be distinguished.
const INFLATION_MAX: f64 = 2.5;

/// An observation of the regression: side, time and figure, less the mean of each.
struct Row {
    side: f64,
    time: f64,
    log: f64,
}

impl Change {
    /// Returns the change with a linear drift over time taken out: an analysis of covariance on logarithms.
    ///
    /// `None` where the design does not allow it: fewer than six runs, fewer than two of a side, or sides that were not
    /// measured in turns. The figures themselves have no part in that, so the confidence is kept.
    ///
    /// The variance is robust against sides that vary differently (HC2), with the degrees of freedom of Bell and McCaffrey
    /// (2002), as Welch's interval is without drift.
    #[must_use]
    pub fn in_turns(base: &[Timed], new: &[Timed], confidence: f64) -> Option<Self> {
        let n = base.len() + new.len();
        if n < RUNS_MIN || base.len().min(new.len()) < 2 {
            return None;
        }
        let row = |side: f64| move |run: &Timed| Row { side, time: run.at_s, log: run.value.ln() };
        let mut rows: Vec<Row> = base.iter().map(row(0.0)).chain(new.iter().map(row(1.0))).collect();
        centre(&mut rows);
        let sum = |term: &dyn Fn(&Row) -> f64| rows.iter().map(term).sum::<f64>();
        let (sides, times) = (sum(&|r| r.side * r.side), sum(&|r| r.time * r.time));
        if times <= 0.0 {
            return None;
        }
        // What of the side is not explained by time.
        let slope = sum(&|r| r.side * r.time) / times;
        let alone: Vec<f64> = rows.iter().map(|r| r.side - slope * r.time).collect();
        let squares: f64 = alone.iter().map(|v| v * v).sum();
        if squares * INFLATION_MAX < sides {
            return None;
        }
        let weights: Vec<f64> = alone.iter().map(|v| v / squares).collect();
        let change: f64 = weights.iter().zip(&rows).map(|(weight, row)| weight * row.log).sum();
        let drift = sum(&|r| r.time * (r.log - change * r.side)) / times;
        let residuals: Vec<f64> = rows.iter().map(|r| r.log - change * r.side - drift * r.time).collect();
        // The hat matrix of a constant, time, and what side is beside it.
        let hat =
            |i: usize, j: usize| 1.0 / n as f64 + rows[i].time * rows[j].time / times + alone[i] * alone[j] / squares;
        let scaled: Vec<f64> = (0..n).map(|i| weights[i] / (1.0 - hat(i, i)).max(1e-9).sqrt()).collect();
        let variance: f64 = scaled.iter().zip(&residuals).map(|(weight, residual)| (weight * residual).powi(2)).sum();
        let trace: f64 = scaled.iter().enumerate().map(|(i, weight)| weight * weight * (1.0 - hat(i, i))).sum();
        let of_pair = |i: usize, j: usize| scaled[i] * scaled[j] * (f64::from(u8::from(i == j)) - hat(i, j));
        let all: f64 = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| of_pair(i, j).powi(2)).sum();
        let dof = (trace * trace / all).max(1.0);
        let noise = residuals.iter().map(|v| v * v).sum::<f64>() / (n as f64 - 3.0);
        Some(Self::of(change, variance, dof, confidence, 2.0 * noise))
    }
}

/// Takes the mean of each column out.
fn centre(rows: &mut [Row]) {
    let n = rows.len() as f64;
    let mean = |rows: &[Row], column: fn(&Row) -> f64| rows.iter().map(column).sum::<f64>() / n;
    let (side, time, log) = (mean(rows, |r| r.side), mean(rows, |r| r.time), mean(rows, |r| r.log));
    for row in rows {
        (row.side, row.time, row.log) = (row.side - side, row.time - time, row.log - log);
    }
}

/// Returns runs of each side so that a difference of `distance` (of logarithms) is shown in `power` of all comparisons,
/// where one run of each side has this variance of the ratio; absent above `most`.
pub(crate) fn runs_for(distance: f64, variance_of_one: f64, confidence: f64, power: f64, most: u32) -> Option<u32> {
    fewest(2, most, |n| {
        let dof = 2.0 * f64::from(n) - 2.0;
        let reach = student::quantile(0.5 + confidence / 2.0, dof) + student::quantile(power, dof);
        reach * (variance_of_one / f64::from(n)).sqrt() < distance
    })
}

/// Returns the lowest number from `least` to `most` that is enough, by halving: every number above it is, too.
pub(crate) fn fewest(least: u32, most: u32, is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    if least > most || !is_enough(most) {
        return None;
    }
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = u32::midpoint(low, high);
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::super::simulation::Noise;
    use super::*;
    use crate::compare::Direction;

    /// Runs in the given order, `A` and `B`, with noise, a change of B and a drift from first to last.
    fn runs(noise: &mut Noise, order: &str, deviation: f64, change: f64, drift: f64) -> [Vec<Timed>; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        let last = order.len() as f64 - 1.0;
        for (nth, name) in order.chars().enumerate() {
            let level = if name == 'B' { 1000.0 * (1.0 + change) } else { 1000.0 };
            let value = level * (1.0 + drift * nth as f64 / last) * (deviation * noise.normal()).exp();
            sides[usize::from(name == 'B')].push(Timed { at_s: 60.0 * nth as f64, value });
        }
        sides
    }

    fn shown(order: &str, deviation: f64, change: f64, drift: f64) -> f64 {
        let (mut noise, times) = (Noise::new(21), 2000);
        let is_shown = |_: &i32| {
            let [base, new] = runs(&mut noise, order, deviation, change, drift);
            Change::in_turns(&base, &new, 0.95).unwrap().direction() != Direction::Unknown
        };
        (0..times).filter(is_shown).count() as f64 / f64::from(times)
    }

    #[test]
    fn a_drift_is_no_change_and_hides_none() {
        for order in ["ABABABABAB", "ABBAABBAAB", "ABBABA", "AABABBABAB"] {
            for drift in [0.0, 0.2, -0.3] {
                let wrong = shown(order, 0.01, 0.0, drift);
                assert!(wrong < 0.065, "{order} with a drift of {drift}: {wrong} false");
            }
        }
        assert!(shown("ABABABABAB", 0.01, 0.05, 0.2) > 0.99);
    }

    #[test]
    fn sides_that_vary_differently_keep_the_promise() {
        let (mut noise, times, mut wrong) = (Noise::new(22), 2000, 0);
        for _ in 0..times {
            let [base, mut new] = runs(&mut noise, "ABABABABAB", 0.005, 0.0, 0.1);
            new.iter_mut().for_each(|run| run.value *= (0.04 * noise.normal()).exp());
            wrong += u32::from(Change::in_turns(&base, &new, 0.95).unwrap().direction() != Direction::Unknown);
        }
        // Eight times the deviation of the other side: a little more than promised.
        assert!(f64::from(wrong) / f64::from(times) < 0.08, "{wrong} of {times}");
    }

    #[test]
    fn without_turns_or_with_few_runs_there_is_none() {
        for order in ["AAAAABBBBB", "ABBA", "AAAAAB", "ABABA"] {
            let [base, new] = runs(&mut Noise::new(1), order, 0.01, 0.0, 0.0);
            assert_eq!(Change::in_turns(&base, &new, 0.95), None, "{order}");
        }
        let at_once = [Timed { at_s: 0.0, value: 1.0 }; 4];
        assert_eq!(Change::in_turns(&at_once, &at_once, 0.95), None);
    }

    #[test]
    fn runs_asked_for_show_the_change_in_four_of_five_comparisons() {
        let (mut noise, times) = (Noise::new(23), 2000);
        let n = runs_for(0.02, 2.0 * 0.02_f64.powi(2), 0.95, 0.8, 1000).unwrap();
        let mut side = |level: f64| (0..n).map(|_| level * (0.02 * noise.normal()).exp()).collect::<Vec<_>>();
        let is_shown = |_: &i32| {
            let (base, new) = (side(1000.0), side(1000.0 * 0.02_f64.exp()));
            Change::of_runs(&base, &new, 0.95).unwrap().direction() == Direction::Up
        };
        let power = (0..times).filter(is_shown).count() as f64 / f64::from(times);
        assert!((0.77..0.84).contains(&power), "{n} runs: {power}");
        assert_eq!(runs_for(0.001, 1.0, 0.95, 0.8, 1000), None);
    }
}
