//! The generalised harmonic number, which a Zipf distribution is scaled by.

/// Terms that are added one by one. The rest is the Euler–Maclaurin formula, whose error is below 1e-15 then.
const ADDED: u64 = 1_000;

/// ζ(n) = Σ i^-θ for i in 1..=n, for any n at the same cost.
///
/// Source: the Euler–Maclaurin formula to its fourth derivative. YCSB adds all n terms, which takes minutes at 10¹⁰.
#[derive(Clone, Copy, Debug)]
pub struct Zeta {
    theta: f64,
    /// ζ([`ADDED`]).
    head: f64,
}

impl Zeta {
    /// Returns the function for an exponent above 0.
    #[must_use]
    pub fn new(theta: f64) -> Self {
        Self { theta, head: added(ADDED, theta) }
    }

    /// Returns ζ(`n`).
    #[must_use]
    pub fn of(&self, n: u64) -> f64 {
        if n <= ADDED {
            return added(n, self.theta);
        }
        let theta = self.theta;
        let (low, high) = (ADDED as f64, n as f64);
        let integral = if (theta - 1.0).abs() < 1e-12 {
            (high / low).ln()
        } else {
            (high.powf(1.0 - theta) - low.powf(1.0 - theta)) / (1.0 - theta)
        };
        let of_power = |power: f64| high.powf(-theta - power) - low.powf(-theta - power);
        let third = theta * (theta + 1.0) * (theta + 2.0);
        self.head + integral + of_power(0.0) / 2.0 - theta * of_power(1.0) / 12.0 + third * of_power(3.0) / 720.0
    }
}

fn added(n: u64, theta: f64) -> f64 {
    // The smallest terms first, so that none is lost to rounding.
    (1..=n).rev().map(|i| (i as f64).powf(-theta)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_known_ones() {
        let zeta = Zeta::new(0.99);
        let known = [
            (1_000, 7.728_953),
            (100_000, 12.778_338),
            (1_000_000, 15.391_850),
            (10_000_000, 18.066_243),
            (100_000_000, 20.802_930),
        ];
        for (n, value) in known {
            assert!((zeta.of(n) - value).abs() < 1e-6, "{n}: {}", zeta.of(n));
        }
        // The constant of YCSB's scrambled zipfian, which its authors added up.
        assert!((zeta.of(10_000_000_000) - 26.469_028_201_783_02).abs() < 1e-6, "{}", zeta.of(10_000_000_000));
    }

    #[test]
    fn the_formula_is_the_sum() {
        for theta in [0.2, 0.8, 1.0, 1.5] {
            let zeta = Zeta::new(theta);
            for n in [1, 999, 1_000, 1_001, 50_000] {
                assert!((zeta.of(n) / added(n, theta) - 1.0).abs() < 1e-12, "{theta} {n}");
            }
        }
    }
}
