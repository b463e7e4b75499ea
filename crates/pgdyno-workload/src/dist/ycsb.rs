//! YCSB's keys and distributions, with its constants.
//!
//! Source: YCSB 0.17; Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994.

use super::pgbench::fnv1a;
use super::{Zeta, Zipf};
use crate::Rng;

/// The exponent of YCSB's Zipf distributions.
pub const THETA: f64 = 0.99;
/// Numbers that [`Scrambled`] draws from before it hashes them, whatever the number of records.
pub const SCRAMBLED_ITEMS: u64 = 10_000_000_001;
/// YCSB's constant for ζ([`SCRAMBLED_ITEMS`]).
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

/// Returns YCSB's hash of a number: FNV-1a of its eight bytes without the sign.
#[inline]
#[must_use]
pub fn hash(number: u64) -> u64 {
    fnv1a(number as i64, 0).unsigned_abs()
}

/// Ranks from 0, by the method of Gray et al. with the exponent 0.99.
///
/// It approximates a Zipf distribution over the items: rank 0 and 1 have exactly their probabilities.
#[derive(Clone, Copy, Debug)]
pub struct Zipfian {
    /// Items at its start: YCSB does not change what depends on them when the items grow.
    initial: f64,
    items: u64,
    zeta_of: Zeta,
    zeta: f64,
    zeta_of_two: f64,
    theta: f64,
    eta: f64,
}

impl Zipfian {
    /// Returns the distribution over so many items, at least 1, with an exponent below 1.
    #[must_use]
    pub fn new(items: u64, theta: f64) -> Self {
        let zeta_of = Zeta::new(theta);
        Self::with_zeta(items, theta, zeta_of.of(items))
    }

    fn with_zeta(items: u64, theta: f64, zeta: f64) -> Self {
        let zeta_of = Zeta::new(theta);
        let mut zipfian =
            Self { initial: items as f64, items, zeta_of, zeta, zeta_of_two: zeta_of.of(2), theta, eta: 0.0 };
        zipfian.set_eta();
        zipfian
    }

    fn set_eta(&mut self) {
        self.eta = (1.0 - (2.0 / self.initial).powf(1.0 - self.theta)) / (1.0 - self.zeta_of_two / self.zeta);
    }

    /// Changes the number of items, if there are more of them now.
    #[inline]
    pub fn grow(&mut self, items: u64) {
        if items > self.items {
            self.items = items;
            self.zeta = self.zeta_of.of(items);
            self.set_eta();
        }
    }

    /// Returns the rank to which a number in `[0, 1)` leads.
    #[inline]
    #[must_use]
    pub fn rank(&self, uniform: f64) -> u64 {
        let scaled = uniform * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < 1.0 + 0.5f64.powf(self.theta) {
            return 1;
        }
        let alpha = 1.0 / (1.0 - self.theta);
        (self.items as f64 * (self.eta * uniform - self.eta + 1.0).powf(alpha)) as u64
    }
}

/// YCSB's `zipfian`: ranks among 10¹⁰ items, hashed into the numbers below a limit. The skew is that of 10¹⁰ items: the
/// hottest of a million records has 3.8 % of the draws, and not the 6.5 % of a Zipf distribution over them.
#[derive(Clone, Copy, Debug)]
pub struct Scrambled {
    zipfian: Zipfian,
    numbers: u64,
}

impl Scrambled {
    /// Returns the distribution over `0..numbers`, at least one.
    #[must_use]
    pub fn new(numbers: u64, theta: f64) -> Self {
        let zipfian = match theta == THETA {
            true => Zipfian::with_zeta(SCRAMBLED_ITEMS, theta, SCRAMBLED_ZETA),
            false => Zipfian::new(SCRAMBLED_ITEMS, theta),
        };
        Self { zipfian, numbers: numbers.max(1) }
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        hash(self.zipfian.rank(rng.unit())) % self.numbers
    }
}

/// YCSB's `latest`: the youngest numbers are the most frequent ones.
#[derive(Clone, Copy, Debug)]
pub struct Latest(Zipfian);

impl Latest {
    /// Returns the distribution; `last` is the youngest number at its start.
    #[must_use]
    pub fn new(last: u64, theta: f64) -> Self {
        Self(Zipfian::new(last.max(1), theta))
    }

    /// Draws a number up to `last`, the youngest one now.
    #[inline]
    pub fn draw(&mut self, rng: &mut Rng, last: u64) -> u64 {
        self.0.grow(last);
        last.saturating_sub(self.0.rank(rng.unit()))
    }
}

/// YCSB's `hotspot`: a part of the draws is uniform among the first numbers, the others among the rest.
#[derive(Clone, Copy, Debug)]
pub struct Hotspot {
    hot: u64,
    cold: u64,
    share: f64,
}

impl Hotspot {
    /// Returns the distribution over `0..numbers`: `share` of the draws go to the first `hot` part of them.
    #[must_use]
    pub fn new(numbers: u64, hot: f64, share: f64) -> Self {
        // YCSB fails where one of the parts is empty.
        let hot = ((numbers as f64 * hot) as u64).clamp(u64::from(numbers > 1), numbers);
        Self { hot, cold: numbers - hot, share }
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let is_hot = rng.unit() < self.share;
        match (is_hot && self.hot > 0) || self.cold == 0 {
            true => rng.up_to(self.hot.saturating_sub(1)),
            false => self.hot + rng.up_to(self.cold - 1),
        }
    }
}

/// YCSB's `exponential`: 95 % of the draws are among the youngest 85.7 % of the numbers.
#[derive(Clone, Copy, Debug)]
pub struct Exponential {
    mean: f64,
}

impl Exponential {
    /// Returns the distribution for so many numbers at its start.
    #[must_use]
    pub fn new(numbers: u64) -> Self {
        const SHARE: f64 = 0.95;
        const OF_NUMBERS: f64 = 0.857_142_857_1;
        Self { mean: numbers as f64 * OF_NUMBERS / -(1.0 - SHARE).ln() }
    }

    /// Draws a number up to `last`, the youngest one now.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, last: u64) -> u64 {
        loop {
            let age = rng.exponential(self.mean) as u64;
            if age <= last {
                return last - age;
            }
        }
    }
}

/// A true Zipf distribution over records. Ranks are scattered over the numbers, so that hot records are no neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    zipf: Zipf,
    numbers: u64,
    /// Distance of the numbers of two ranks that follow each other: it and the count of numbers have no divisor in
    /// common, so each rank has a number of its own.
    stride: u64,
}

impl Scattered {
    /// Returns the distribution over `0..numbers`, at least one.
    #[must_use]
    pub fn new(numbers: u64, exponent: f64) -> Self {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let numbers = numbers.max(1);
        let mut stride = ((numbers as f64 * GOLDEN) as u64).max(1);
        while divisor(stride, numbers) != 1 {
            stride += 1;
        }
        Self { zipf: Zipf::new(numbers, exponent), numbers, stride }
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        self.number(self.zipf.draw(rng))
    }

    /// Returns the number of a rank, 1 for the most frequent one.
    #[inline]
    #[must_use]
    pub fn number(&self, rank: u64) -> u64 {
        (u128::from(rank) * u128::from(self.stride) % u128::from(self.numbers)) as u64
    }
}

/// Returns the greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::fit;

    #[test]
    fn keys_are_hashed_as_in_ycsb() {
        let keys = [
            6_284_781_860_667_377_211,
            8_517_097_267_634_966_620,
            1_820_151_046_732_198_393,
            4_052_466_453_699_787_802,
            3_232_700_585_171_816_769,
            1_000_385_178_204_227_360,
        ];
        assert_eq!([0, 1, 2, 3, 4, 5].map(hash), keys);
    }

    #[test]
    fn draws_of_the_scrambled_zipfian_are_those_of_ycsb_before_the_hash() {
        let zipfian = Scrambled::new(1_000, THETA).zipfian;
        assert!((zipfian.eta - 0.2122).abs() < 1e-4, "{}", zipfian.eta);
        let draws = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9].map(|uniform| zipfian.rank(uniform));
        assert_eq!(draws, [0, 1, 6, 296, 134_552, 42_924_421, 1_170_869_537]);
    }

    /// Returns the shares of the hottest value, and of the hottest 1 % and 10 % of the values.
    fn shares(values: u64, mut draw: impl FnMut() -> u64) -> [f64; 3] {
        const DRAWS: u32 = 1_000_000;
        let mut counts = vec![0u32; values as usize];
        (0..DRAWS).for_each(|_| counts[draw() as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        [1, values / 100, values / 10].map(|hottest| {
            let sum: u32 = counts[..hottest as usize].iter().sum();
            f64::from(sum) / f64::from(DRAWS)
        })
    }

    fn assert_shares(found: [f64; 3], expected: [f64; 3]) {
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 0.005, "{found} instead of {expected}");
        }
    }

    /// The expected shares are those of a program of its own that draws as many numbers.
    #[test]
    fn the_hottest_keys_have_the_shares_of_ycsb() {
        let mut rng = Rng::new(21);
        let scrambled = Scrambled::new(1_001, THETA);
        assert_shares(shares(1_001, || scrambled.draw(&mut rng)), [0.0386, 0.1255, 0.289]);
        let scrambled = Scrambled::new(100_001, THETA);
        assert_shares(shares(100_001, || scrambled.draw(&mut rng)), [0.0372, 0.304, 0.461]);
    }

    #[test]
    fn a_true_zipf_has_a_hotter_head() {
        let mut rng = Rng::new(22);
        let zipf = Scattered::new(1_000, THETA);
        assert_shares(shares(1_000, || zipf.draw(&mut rng)), [0.129_384, 0.382_472, 0.685_031]);
        let zipf = Scattered::new(100_000, THETA);
        assert_shares(shares(100_000, || zipf.draw(&mut rng)), [0.078_257, 0.604_848, 0.800_132]);
    }

    #[test]
    fn each_rank_has_a_number_of_its_own() {
        for numbers in [1, 2, 3, 10, 1_000, 1_024] {
            let zipf = Scattered::new(numbers, THETA);
            let mut seen: Vec<_> = (1..=numbers).map(|rank| zipf.number(rank)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..numbers).collect::<Vec<_>>());
        }
    }

    #[test]
    fn gray_s_method_is_exact_for_the_first_two_ranks() {
        let (zipfian, mut rng) = (Zipfian::new(1_000, THETA), Rng::new(4));
        let zeta = Zeta::new(THETA).of(1_000);
        let first = 1.0 / zeta;
        let second = 0.5f64.powf(THETA) / zeta;
        let expected = |class: u64| [first, second, 1.0 - first - second][class as usize];
        fit::assert_fits(3, expected, || zipfian.rank(rng.unit()).min(2));
        assert!((0..10_000).all(|_| zipfian.rank(rng.unit()) < 1_000));
    }

    #[test]
    fn the_latest_numbers_are_the_most_frequent() {
        let (mut latest, mut rng) = (Latest::new(999, THETA), Rng::new(6));
        let first = 1.0 / Zeta::new(THETA).of(999);
        fit::assert_fits(
            2,
            |old| if old == 0 { first } else { 1.0 - first },
            || u64::from(latest.draw(&mut rng, 999) != 999),
        );
        // The newest of twice as many is the most frequent one then.
        let hits = (0..10_000).filter(|_| latest.draw(&mut rng, 1_999) == 1_999).count();
        assert!((1_000..1_400).contains(&hits), "{hits}");
        assert_eq!(Latest::new(0, THETA).draw(&mut rng, 0), 0);
    }

    #[test]
    fn hotspot_and_exponential_have_their_probabilities() {
        let (hotspot, mut rng) = (Hotspot::new(1_000, 0.2, 0.8), Rng::new(7));
        let expected = |number: u64| if number < 200 { 0.8 / 200.0 } else { 0.2 / 800.0 };
        fit::assert_fits(1_000, expected, || hotspot.draw(&mut rng));
        for numbers in 1..5 {
            let small = Hotspot::new(numbers, 0.2, 0.8);
            assert!((0..1_000).all(|_| small.draw(&mut rng) < numbers));
        }
        let exponential = Exponential::new(1_000);
        let rate = 20f64.ln() / 857.142_857_1;
        // Draws older than the oldest number are drawn again.
        let all = 1.0 - (-rate * 1_000.0).exp();
        let expected = |age: u64| ((-rate * age as f64).exp() - (-rate * (age + 1) as f64).exp()) / all;
        fit::assert_fits(1_000, expected, || 999 - exponential.draw(&mut rng, 999));
    }
}
