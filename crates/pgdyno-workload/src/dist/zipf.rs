//! A Zipf distribution over any number of items, exact for any exponent above 0.

use crate::Rng;

/// The Zipf distribution over the ranks 1..=n: rank k has a probability proportional to k^-exponent.
///
/// Source: Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM
/// TOMACS 6(3), 1996. A draw takes about one uniform number, whatever n is.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    exponent: f64,
    ranks: u64,
    /// The integral of the density up to half a rank beyond the last one, ...
    top: f64,
    /// ... and up to the first one.
    bottom: f64,
    /// Distance to a rank within which no second look is needed.
    sure: f64,
}

impl Zipf {
    /// Returns the distribution over `ranks` ranks, at least 1.
    #[must_use]
    pub fn new(ranks: u64, exponent: f64) -> Self {
        let mut zipf = Self { exponent, ranks: ranks.max(1), top: 0.0, bottom: 0.0, sure: 0.0 };
        zipf.top = zipf.integral(zipf.ranks as f64 + 0.5);
        zipf.bottom = zipf.integral(1.5) - 1.0;
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// Draws a rank: 1 is the most frequent one.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.top + rng.unit() * (self.bottom - self.top);
            let x = self.inverse(area);
            // Rounding may lead out of the range.
            let rank = (x + 0.5).clamp(1.0, self.ranks as f64).floor();
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// Returns the integral of the density from 1 to `x`: (x^(1 - exponent) - 1) / (1 - exponent), and its limit ln x.
    fn integral(&self, x: f64) -> f64 {
        let ln = x.ln();
        let t = (1.0 - self.exponent) * ln;
        ln * if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 }
    }

    /// Returns the `x` up to which the integral has this value.
    fn inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        (area * if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 }).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{Zeta, fit};

    #[test]
    fn ranks_have_their_probabilities() {
        for (exponent, ranks) in [(0.5, 50), (0.8, 1_000), (0.99, 200), (1.0, 100), (1.7, 40)] {
            let (zipf, zeta) = (Zipf::new(ranks, exponent), Zeta::new(exponent).of(ranks));
            let mut rng = Rng::new(11);
            let expected = |rank: u64| ((rank + 1) as f64).powf(-exponent) / zeta;
            fit::assert_fits(ranks, expected, || zipf.draw(&mut rng) - 1);
        }
    }

    #[test]
    fn one_rank_and_very_many_are_possible() {
        let mut rng = Rng::new(1);
        assert!((0..100).all(|_| Zipf::new(1, 0.99).draw(&mut rng) == 1));
        let many = Zipf::new(10_000_000_000, 0.99);
        assert!((0..10_000).all(|_| (1..=10_000_000_000).contains(&many.draw(&mut rng))));
    }
}
