//! pgbench's distributions, hashes and pseudorandom permutation, bit for bit.

use crate::Rng;

/// Returns how many numbers `low..=high` has; the caller has checked that it fits.
fn count(low: i64, high: i64) -> f64 {
    (high - low + 1) as f64
}

/// Draws `random_exponential`: the density at `high` is e^-parameter of that at `low`. The parameter is positive.
#[inline]
pub fn exponential(rng: &mut Rng, low: i64, high: i64, parameter: f64) -> i64 {
    let cut = (-parameter).exp();
    let uniform = 1.0 - rng.unit();
    let share = -(cut + (1.0 - cut) * uniform).ln() / parameter;
    low.wrapping_add((count(low, high) * share) as i64)
}

/// Draws `random_gaussian` by Box and Muller, truncated `parameter` standard deviations from the middle. At least 2.
#[inline]
pub fn gaussian(rng: &mut Rng, low: i64, high: i64, parameter: f64) -> i64 {
    let deviation = loop {
        let u1 = 1.0 - rng.unit();
        let u2 = 1.0 - rng.unit();
        let z = (-2.0 * u1.ln()).sqrt() * (2.0 * std::f64::consts::PI * u2).sin();
        if (-parameter..parameter).contains(&z) {
            break z;
        }
    };
    let share = (deviation + parameter) / (parameter * 2.0);
    low.wrapping_add((count(low, high) * share) as i64)
}

/// Draws `random_zipfian` with an exponent over 1, by rejection.
///
/// Source: Devroye, "Non-Uniform Random Variate Generation" (1986), p. 550.
#[inline]
pub fn zipfian(rng: &mut Rng, low: i64, high: i64, exponent: f64) -> i64 {
    let n = high - low + 1;
    if n <= 1 {
        return low;
    }
    let power = exponent - 1.0;
    let b = 2f64.powf(power);
    let x = loop {
        let u = rng.unit();
        let v = rng.unit();
        let x = u.powf(-1.0 / power).floor();
        let t = (1.0 + 1.0 / x).powf(power);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= n as f64 {
            break x;
        }
    };
    low.wrapping_sub(1).wrapping_add(x as i64)
}

/// Returns `hash_fnv1a` of the eight bytes, low first.
#[inline]
#[must_use]
pub fn fnv1a(value: i64, seed: i64) -> i64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed as u64;
    value.to_le_bytes().iter().fold(start, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)) as i64
}

/// Returns `hash_murmur2`: Austin Appleby's 64-bit MurmurHash2 of eight bytes.
#[inline]
#[must_use]
pub fn murmur2(value: i64, seed: i64) -> i64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut k = (value as u64).wrapping_mul(M);
    k ^= k >> R;
    k = k.wrapping_mul(M);
    let mut h = ((seed as u64 ^ M.wrapping_mul(8)) ^ k).wrapping_mul(M);
    h ^= h >> R;
    h = h.wrapping_mul(M);
    (h ^ h >> R) as i64
}

/// Returns `permute`: the place of `value` in the permutation of `0..size` that `seed` selects. `size` is positive.
#[inline]
#[must_use]
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut rng = Rng::new(seed as u64);
    let size = size as u64;
    let mut v = value as u64 % size;
    let bits = size.ilog2();
    let mask = (1u64 << bits) - 1;
    for _ in 0..6 {
        // The lower half, then the upper half from the other end: both are as long as the largest power of two
        // allows, so they overlap. An odd factor, an exclusive or and a rotation keep each a bijection.
        let scramble = |rng: &mut Rng, x: u64| {
            let factor = rng.next_u64() & mask | 1;
            let flip = rng.next_u64() & mask;
            if x > mask {
                return x;
            }
            let y = (x.wrapping_mul(factor) ^ flip) & mask;
            y << 1 & mask | y >> (bits - 1)
        };
        v = scramble(&mut rng, v);
        v = size - 1 - scramble(&mut rng, size - 1 - v);
        v = (v + rng.up_to(size - 1)) % size;
    }
    v as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pgbench's client 0 under `--random-seed=5432`.
    fn client() -> Rng {
        Rng::new(Rng::new(5432).next_u64())
    }

    #[test]
    fn the_draws_are_pgbenchs() {
        let mut rng = client();
        assert_eq!(rng.uniform(10, 19), 17);
        assert_eq!(exponential(&mut rng, 100, 199, 10.0), 104);
        assert_eq!(gaussian(&mut rng, 1000, 1999, 10.0), 1498);
    }

    #[test]
    fn draws_stay_in_their_range() {
        let mut rng = client();
        for (low, high) in [(5, 5), (-3, 3), (0, i64::MAX - 1), (i64::MIN, -2)] {
            for _ in 0..1000 {
                for x in [
                    exponential(&mut rng, low, high, 0.001),
                    gaussian(&mut rng, low, high, 2.0),
                    zipfian(&mut rng, low, high, 1.001),
                    zipfian(&mut rng, low, high, 1000.0),
                ] {
                    assert!((low..=high).contains(&x), "{x} of {low}..={high}");
                }
            }
        }
    }

    /// Every value comes up once, for any size.
    #[test]
    fn a_permutation_is_one() {
        for size in [1, 2, 3, 4, 7, 8, 1000] {
            let mut seen: Vec<_> = (0..size).map(|v| permute(v, size, 42)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..size).collect::<Vec<_>>());
        }
        assert_ne!(permute(0, 1000, 1), permute(0, 1000, 2));
        assert_eq!(permute(-1, 10, 5), permute(5, 10, 5), "18446744073709551615 % 10");
        assert!((0..i64::MAX).contains(&permute(i64::MAX, i64::MAX, 1)));
    }
}
