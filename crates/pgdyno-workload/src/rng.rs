//! Random numbers: a stream for each purpose, all derived from one seed.

/// xoroshiro128**, seeded by splitmix64, as in pgbench since PostgreSQL 15.
///
/// Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2018).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    s0: u64,
    s1: u64,
}

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// Returns the stream of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Self { s0: splitmix64(&mut state), s1: splitmix64(&mut state) }
    }

    /// Returns the stream of `seed` for one purpose: a name and numbers, such as a table and a chunk.
    #[must_use]
    pub fn derive(seed: u64, purpose: &str, numbers: &[u64]) -> Self {
        // FNV-1a over the purpose, then one round of splitmix64 for each number.
        let mut state = purpose
            .bytes()
            .fold(seed ^ 0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        for n in numbers {
            state = splitmix64(&mut state) ^ *n;
        }
        Self::new(splitmix64(&mut state))
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let (s0, sx) = (self.s0, self.s1 ^ self.s0);
        let value = s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        self.s0 = s0.rotate_left(24) ^ sx ^ (sx << 16);
        self.s1 = sx.rotate_left(37);
        value
    }

    /// Returns a uniform number in `low..=high`; pgbench's `random(low, high)`. Returns `low` if the range is empty.
    #[inline]
    pub fn uniform(&mut self, low: i64, high: i64) -> i64 {
        if high <= low {
            return low;
        }
        low.wrapping_add(self.up_to(high.wrapping_sub(low) as u64) as i64)
    }

    /// Returns a uniform number in `0..=range`, by masks and rejection. Draws nothing if `range` is 0.
    #[inline]
    pub fn up_to(&mut self, range: u64) -> u64 {
        if range == 0 {
            return 0;
        }
        let shift = range.leading_zeros();
        loop {
            let value = self.next_u64() >> shift;
            if value <= range {
                return value;
            }
        }
    }

    /// Returns a uniform number in `[0, 1)`, of 52 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 12) as f64 * (1.0 / (1u64 << 52) as f64)
    }

    /// Returns an exponentially distributed number with the given mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.unit()).ln() * mean
    }

    /// Returns a normally distributed number with mean 0 and variance 1, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * (1.0 - self.unit()).ln()).sqrt(), std::f64::consts::TAU * self.unit());
        radius * angle.cos()
    }

    /// Puts `items` into a random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.up_to(i as u64) as usize;
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pgbench 15 `--random-seed=5432`: the first client's generator is seeded with the first number of
    /// the base generator, and its first `random(10, 19)` is 17.
    #[test]
    fn the_sequence_is_pgbenchs() {
        let mut base = Rng::new(5432);
        let mut client = Rng::new(base.next_u64());
        assert_eq!(client.uniform(10, 19), 17);
    }

    #[test]
    fn streams_differ_by_purpose_and_number() {
        let first = |purpose, numbers: &[u64]| Rng::derive(1, purpose, numbers).next_u64();
        let all = [
            first("stock", &[1]),
            first("stock", &[2]),
            first("item", &[1]),
            first("stock", &[1, 1]),
            first("stock", &[]),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(first("stock", &[1]), first("stock", &[1]));
    }

    #[test]
    fn every_value_of_a_range_comes_up_and_none_beyond_it() {
        let mut rng = Rng::new(1);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(rng.uniform(-5, 4) + 5).unwrap()] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
        assert_eq!(rng.uniform(3, 3), 3);
        assert_eq!(rng.uniform(i64::MIN, i64::MAX).signum().abs(), 1);
    }

    #[test]
    fn an_exponential_has_its_mean() {
        let mut rng = Rng::new(2);
        let mean = (0..100_000).map(|_| rng.exponential(7.0)).sum::<f64>() / 100_000.0;
        assert!((mean - 7.0).abs() < 0.1, "{mean}");
    }
}
