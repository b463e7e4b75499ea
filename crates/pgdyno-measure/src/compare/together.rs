//! Several changes judged together, such as those of all queries of a set: of many, some differ by chance.

use super::change::{Change, Direction, welch};
use super::estimate::{Estimate, mean};
use super::student;

/// Repeated times of one thing, such as a query, within one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// How often it was repeated.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of these times: their squared distances from the mean, divided by their number.
    pub stddev: f64,
}

impl Repeated {
    /// Returns the logarithm of the mean, and how uncertain it is; `None` if it was not repeated, or does not vary.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        let n = self.count as f64;
        // The logarithm of the mean varies as the mean does, relative to it (delta method).
        let variance = (self.stddev / self.mean).powi(2) / (n - 1.0);
        (self.count >= 2 && variance > 0.0).then(|| Estimate { log: self.mean.ln(), variance, dof: n - 1.0 })
    }

    /// Returns the interval of the mean: Student's, on logarithms.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        let Estimate { log, variance, dof } = self.estimate()?;
        let reach = student::quantile(0.5 + confidence / 2.0, dof) * variance.sqrt();
        Some(((log - reach).exp(), (log + reach).exp()))
    }
}

/// A change, and how likely one as large is by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The change with an interval of its own.
    pub change: Change,
    /// The probability of such a change, or a larger one, if nothing has changed: Welch's test on logarithms.
    pub chance: f64,
}

impl Tested {
    /// Tests the change between two estimates.
    #[must_use]
    pub fn between(base: &Estimate, new: &Estimate, confidence: f64) -> Self {
        let (log, variance, dof) = welch(base, new);
        let chance = student::beyond(log.abs() / variance.sqrt(), dof);
        Self { change: Change::between(base, new, confidence), chance }
    }

    /// Tests the change between the figures of several runs of each side; `None` if a side has one run, or does not vary.
    #[must_use]
    pub fn of_runs(base: &[f64], new: &[f64], confidence: f64) -> Option<Self> {
        Some(Self::between(&of_values(base)?, &of_values(new)?, confidence))
    }
}

/// Returns the mean of the logarithms, and how uncertain it is.
fn of_values(values: &[f64]) -> Option<Estimate> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (n, log) = (logs.len() as f64, mean(&logs));
    let variance = logs.iter().map(|value| (value - log).powi(2)).sum::<f64>() / (n - 1.0) / n;
    (logs.len() >= 2 && variance > 0.0).then_some(Estimate { log, variance, dof: n - 1.0 })
}

/// Returns the direction of each change, so that with probability `confidence` none of those that are shown is chance
/// alone, however many there are and however they depend on each other (Holm 1979).
#[must_use]
pub fn directions(tested: &[Tested], confidence: f64) -> Vec<Direction> {
    let mut order: Vec<usize> = (0..tested.len()).collect();
    order.sort_by(|a, b| tested[*a].chance.total_cmp(&tested[*b].chance));
    let mut directions = vec![Direction::Unknown; tested.len()];
    for (nth, place) in order.into_iter().enumerate() {
        let Tested { change, chance } = tested[place];
        if chance * (tested.len() - nth) as f64 > 1.0 - confidence {
            break;
        }
        directions[place] = if change.ratio > 1.0 { Direction::Up } else { Direction::Down };
    }
    directions
}

#[cfg(test)]
mod tests {
    use super::super::simulation::Noise;
    use super::*;

    /// Returns the times of a query in `n` repeats around `level`, which vary by 5 %.
    fn repeats(noise: &mut Noise, n: u32, level: f64) -> Repeated {
        let times: Vec<f64> = (0..n).map(|_| level * (0.05 * noise.normal()).exp()).collect();
        let mean = mean(&times);
        let stddev = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / f64::from(n)).sqrt();
        Repeated { count: u64::from(n), mean, stddev }
    }

    /// Returns the shares of `times` comparisons of 22 queries, the first of which takes `slower` times as long, that
    /// show any of the others as changed, and the first one as slower.
    fn shares(n: u32, slower: f64, times: u32) -> [f64; 2] {
        let mut noise = Noise::new(19);
        let mut counts = [0; 2];
        for _ in 0..times {
            let query = |nth| {
                let base = repeats(&mut noise, n, 1.0).estimate().unwrap();
                let new = repeats(&mut noise, n, if nth == 0 { slower } else { 1.0 }).estimate().unwrap();
                Tested::between(&base, &new, 0.95)
            };
            let tested: Vec<_> = (0..22).map(query).collect();
            let found = directions(&tested, 0.95);
            counts[0] += u32::from(found[1..].iter().any(|direction| *direction != Direction::Unknown));
            counts[1] += u32::from(found[0] == Direction::Up);
        }
        counts.map(|count| f64::from(count) / f64::from(times))
    }

    #[test]
    fn of_many_queries_none_is_shown_as_changed_by_chance_more_often_than_promised() {
        let times = 1000;
        let chance = 3.0 * (0.05 * 0.95 / f64::from(times)).sqrt();
        for n in [3, 5, 10] {
            let [false_alarms, _] = shares(n, 1.0, times);
            assert!(false_alarms < 0.05 + chance, "{n} repeats: {false_alarms}");
        }
    }

    #[test]
    fn a_query_that_got_slower_is_found_among_the_others() {
        let [false_alarms, found] = shares(5, 1.3, 300);
        assert!(found > 0.9 && false_alarms < 0.1, "{found} {false_alarms}");
    }

    #[test]
    fn one_value_has_no_interval() {
        let one = Repeated { count: 1, mean: 2.0, stddev: 0.0 };
        assert_eq!((one.estimate(), one.interval(0.95)), (None, None));
        let (low, high) = Repeated { count: 5, mean: 2.0, stddev: 0.1 }.interval(0.95).unwrap();
        assert!(low < 2.0 && high > 2.0 && high < 2.2, "{low} {high}");
        assert_eq!(Tested::of_runs(&[1.0], &[1.0, 2.0], 0.95), None);
        assert!(Tested::of_runs(&[1.0, 1.01, 0.99], &[2.0, 2.01, 1.99], 0.95).unwrap().chance < 1e-3);
    }
}
