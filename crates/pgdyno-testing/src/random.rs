//! Reproducible random numbers for tests.

use std::hash::{BuildHasher as _, Hasher as _};

/// Environment variable with the seed of a test run to repeat.
const SEED: &str = "PGDYNO_TEST_SEED";

/// Random numbers of one test, by SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns a generator with the seed in `PGDYNO_TEST_SEED`, or else a new seed. Prints the seed, which the test harness
    /// shows when the test fails.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "the test harness shows it where a test fails")]
    pub fn new() -> Self {
        let given = std::env::var(SEED).ok().map(|text| text.parse().unwrap());
        let seed = given.unwrap_or_else(|| std::hash::RandomState::new().build_hasher().finish());
        eprintln!("{SEED}={seed} draws the same again");
        Self(seed)
    }

    /// Returns a generator with this seed.
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit`, which must be above 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_again() {
        let draw = |seed| {
            let mut random = Random::with_seed(seed);
            [0; 4].map(|_| random.below(900))
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
