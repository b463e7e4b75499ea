//! sysbench's distributions (`--rand-type`), in version 1.0 and after it.
//!
//! Source: sysbench 1.0.20, by its option descriptions and by what it draws.

use crate::Rng;
use crate::dist::Zipf;

/// A distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandType {
    /// Each number as often as any other.
    Uniform,
    /// The mean of [`SysbenchOptions::iterations`] uniform numbers: a bell around the middle.
    Gaussian,
    /// A few numbers around the middle most of the time, the rest as [`RandType::Gaussian`].
    Special,
    /// A power of a uniform number: the lowest numbers are the most frequent ones.
    Pareto,
    /// A Zipf distribution: the lowest number is the most frequent one. sysbench has it after 1.0.
    Zipfian,
}

impl RandType {
    /// The names of all kinds in sysbench, in the order of its help.
    pub const NAMES: [&str; 5] = ["uniform", "gaussian", "special", "pareto", "zipfian"];

    /// Returns the kind of this name; the default one for another name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "uniform" => Self::Uniform,
            "gaussian" => Self::Gaussian,
            "pareto" => Self::Pareto,
            "zipfian" => Self::Zipfian,
            _ => Self::Special,
        }
    }
}

/// The options of the distributions, with sysbench's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SysbenchOptions {
    /// `--rand-spec-iter`.
    pub iterations: u32,
    /// `--rand-spec-pct`: percent of the numbers that are special.
    pub special_percent: f64,
    /// `--rand-spec-res`: percent of the draws that are special numbers.
    pub special_draws_percent: f64,
    /// `--rand-pareto-h`.
    pub pareto_h: f64,
    /// `--rand-zipfian-exp`.
    pub zipfian_exponent: f64,
}

impl Default for SysbenchOptions {
    fn default() -> Self {
        Self { iterations: 12, special_percent: 1.0, special_draws_percent: 75.0, pareto_h: 0.2, zipfian_exponent: 0.8 }
    }
}

/// A distribution over a range of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    kind: RandType,
    shape: SysbenchOptions,
    low: i64,
    /// Numbers in the range.
    numbers: f64,
    pareto_power: f64,
    zipf: Zipf,
}

impl Range {
    /// Returns the distribution over `low..=high`, which is not empty.
    #[must_use]
    pub fn new(kind: RandType, shape: SysbenchOptions, low: i64, high: i64) -> Self {
        let ranks = if kind == RandType::Zipfian { (high - low + 1).unsigned_abs() } else { 1 };
        Self {
            kind,
            shape,
            low,
            numbers: (high - low + 1) as f64,
            pareto_power: shape.pareto_h.ln() / (1.0 - shape.pareto_h).ln(),
            zipf: Zipf::new(ranks, shape.zipfian_exponent),
        }
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> i64 {
        match self.kind {
            RandType::Uniform => self.at(rng.unit() * self.numbers),
            RandType::Gaussian => self.at(self.mean(rng) * self.numbers),
            RandType::Special => self.special(rng),
            RandType::Pareto => self.at(rng.unit().powf(self.pareto_power) * self.numbers),
            RandType::Zipfian => self.low + self.zipf.draw(rng) as i64 - 1,
        }
    }

    fn at(&self, distance: f64) -> i64 {
        self.low + distance as i64
    }

    /// Returns the mean of some uniform numbers.
    fn mean(&self, rng: &mut Rng) -> f64 {
        let sum: f64 = (0..self.shape.iterations).map(|_| rng.unit()).sum();
        sum / f64::from(self.shape.iterations)
    }

    /// A draw below the share of numbers that are not special is such a number. All others are scaled to one number more than
    /// the special ones, which lie around the middle: the first of these come up only as far as that share leaves
    /// them room.
    fn special(&self, rng: &mut Rng) -> i64 {
        let span = self.numbers - 1.0;
        let draw = rng.unit();
        if draw < 1.0 - self.shape.special_draws_percent / 100.0 {
            return self.at(self.mean(rng) * span);
        }
        let special = span * self.shape.special_percent / 100.0;
        self.at(span / 2.0 - special / 2.0 + draw * (special + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{Zeta, fit};

    fn fits(kind: RandType, values: u64, expected: impl Fn(u64) -> f64) {
        let range = Range::new(kind, SysbenchOptions::default(), 1, values as i64);
        let mut rng = Rng::new(5);
        fit::assert_fits(values, expected, || (range.draw(&mut rng) - 1) as u64);
    }

    #[test]
    fn uniform_pareto_and_zipfian_have_their_probabilities() {
        fits(RandType::Uniform, 1_000, |_| 0.001);
        // P(u^power < x) = x^(1 / power), with power = ln 0.2 / ln 0.8.
        let below = |value: u64| (value as f64 / 1_000.0).powf(0.8f64.ln() / 0.2f64.ln());
        fits(RandType::Pareto, 1_000, |value| below(value + 1) - below(value));
        let zeta = Zeta::new(0.8).of(1_000);
        fits(RandType::Zipfian, 1_000, |value| ((value + 1) as f64).powf(-0.8) / zeta);
    }

    /// Returns P(mean of 12 uniform numbers < x): the distribution of Irwin and Hall.
    fn mean_below(x: f64) -> f64 {
        let (n, sum) = (12, x * 12.0);
        let mut binomial = 1.0;
        let mut total = 0.0;
        for k in 0..=sum.floor().min(12.0) as i32 {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            total += sign * binomial * (sum - f64::from(k)).powi(n);
            binomial *= f64::from(n - k) / f64::from(k + 1);
        }
        total / (1..=12).map(f64::from).product::<f64>()
    }

    #[test]
    fn gaussian_is_the_mean_of_twelve() {
        // Above the middle the sum of large terms is not exact: the lower half is mirrored.
        let below = |x: f64| if x > 0.5 { 1.0 - mean_below(1.0 - x) } else { mean_below(x) };
        fits(RandType::Gaussian, 100, |value| below((value + 1) as f64 / 100.0) - below(value as f64 / 100.0));
    }

    /// The shares that sysbench 1.0.20 draws of 1..=1000: 75 % of 498..=506, where the first number and the last one
    /// have less.
    #[test]
    fn special_has_the_shares_that_sysbench_draws() {
        let range = Range::new(RandType::Special, SysbenchOptions::default(), 1, 1_000);
        let mut rng = Rng::new(9);
        let mut counts = vec![0u32; 1_001];
        for _ in 0..1_000_000 {
            counts[range.draw(&mut rng) as usize] += 1;
        }
        let share = |numbers: std::ops::RangeInclusive<usize>| {
            counts[numbers].iter().map(|count| f64::from(*count)).sum::<f64>() / 1e6
        };
        for (numbers, expected) in [
            (498..=498, 0.0691),
            (499..=499, 0.0922),
            (505..=505, 0.0922),
            (506..=506, 0.0464),
            (401..=490, 0.0842),
            (101..=400, 0.0295),
            (601..=1_000, 0.0287),
        ] {
            let found = share(numbers.clone());
            assert!((found - expected).abs() < 0.0015, "{numbers:?}: {found} instead of {expected}");
        }
    }
}
