//! Student's t distribution, for any positive number of degrees of freedom.

/// The value that a t-distributed variable stays below with probability `p`; `p` is in [0.5, 1).
///
/// By bisection of the distribution function: to ten digits, for `dof` from 1 to infinity.
pub(crate) fn quantile(p: f64, dof: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while cumulative(high, dof) < p && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if cumulative(middle, dof) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The probability of a value beyond `t` or `-t`, exact also where it is tiny; `t` is not negative.
pub(crate) fn beyond(t: f64, dof: f64) -> f64 {
    incomplete_beta(dof / 2.0, 0.5, dof / (dof + t * t))
}

/// Returns by how many standard errors a mean has to differ from nothing so that Student's test with this critical value shows it with
/// this chance: the noncentrality, by halving.
pub(crate) fn shift(power: f64, critical: f64, dof: f64) -> f64 {
    let (mut low, mut high) = (0.0, critical * 10.0 + 10.0);
    for _ in 0..30 {
        let middle = f64::midpoint(low, high);
        if shows(middle, critical, dof) < power { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Returns the chance that a mean that differs by so many standard errors is above the critical value: over all ratios of the estimated
/// deviation to the true one, which is a chi distribution.
fn shows(shift: f64, critical: f64, dof: f64) -> f64 {
    const STEPS: u32 = 200;
    let reach = 8.0 / (2.0 * dof).sqrt();
    let (first, last) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let (mut all, mut shown) = (0.0, 0.0);
    for step in 0..STEPS {
        let ratio = first + (f64::from(step) + 0.5) / f64::from(STEPS) * (last - first);
        // Relative to its largest value, at 1.
        let density = ((dof - 1.0) * ratio.ln() - dof * (ratio * ratio - 1.0) / 2.0).exp();
        all += density;
        shown += density * normal(shift - critical * ratio);
    }
    shown / all
}

/// The probability that a normal variable is below `x`, to seven digits (Abramowitz and Stegun, 26.2.17).
fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let tail = polynomial.iter().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    let tail = tail * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// The probability of a value below `t`, which is not negative.
fn cumulative(t: f64, dof: f64) -> f64 {
    // Beyond this the normal distribution is the same to nine digits, and the fraction below would lose some.
    let dof = dof.min(1e8);
    1.0 - incomplete_beta(dof / 2.0, 0.5, dof / (dof + t * t)) / 2.0
}

/// The regularized incomplete beta function, by its continued fraction (Abramowitz and Stegun, 26.5.8).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges fast on this side only; the function is symmetric.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction, from its front (Lentz's method).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let not_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut c, mut d) = (1.0, 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..1000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for term in [even, odd] {
            d = 1.0 / not_zero(1.0 + term * d);
            c = not_zero(1.0 + term / c);
            step = c * d;
            value *= step;
        }
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function of a positive number: Stirling's series, beyond 10 to 15 digits.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let square = x * x;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // NIST/SEMATECH e-Handbook, 1.3.6.7.2; those of 1 and 2 degrees in closed form.
        let quartile = std::f64::consts::PI * 0.475;
        for (p, dof, truth) in [
            (0.975, 1.0, quartile.tan()),
            (0.975, 2.0, 0.95 / (2.0 * 0.975 * 0.025_f64).sqrt()),
            (0.975, 4.0, 2.776_445),
            (0.975, 18.0, 2.100_922),
            (0.95, 10.0, 1.812_461),
            (0.995, 30.0, 2.749_996),
            (0.975, 1e9, 1.959_964),
            (0.5, 7.0, 0.0),
        ] {
            let found = quantile(p, dof);
            assert!((found - truth).abs() < 2e-6, "{found} for {truth} ({p}, {dof})");
        }
    }

    #[test]
    fn tails_are_exact_however_thin() {
        // Of two degrees in closed form: 1 - t / sqrt(2 + t²), whose difference loses digits.
        for t in [0.0_f64, 0.5, 2.0, 30.0] {
            let truth = 1.0 - t / (2.0 + t * t).sqrt();
            assert!((beyond(t, 2.0) - truth).abs() < 1e-12, "{t}");
        }
        // For large t it goes to 1 / t².
        assert!((beyond(1e6, 2.0) / 1e-12 - 1.0).abs() < 1e-6);
        assert!((beyond(2.228_139, 10.0) - 0.05).abs() < 1e-6);
    }

    #[test]
    fn the_shift_that_is_shown_is_that_of_the_noncentral_distribution() {
        // With many degrees of freedom: both quantiles of the normal distribution.
        assert!((shift(0.8, 1.959_964, 1e6) - (1.959_964 + 0.841_621)).abs() < 1e-3);
        assert!((normal(-1.0) - 0.158_655_3).abs() < 1e-6 && (normal(1.0) + normal(-1.0) - 1.0).abs() < 1e-12);
        // Four degrees: a test of five units finds 1.6820 deviations in 80 of 100 at 95 % (SciPy 1.17, scipy.stats.nct).
        let deviations = shift(0.8, 2.776_445, 4.0) / 5_f64.sqrt();
        assert!((deviations - 1.6820).abs() < 5e-4, "{deviations}");
    }

    #[test]
    fn degrees_need_not_be_whole() {
        let between = quantile(0.975, 3.5);
        assert!(quantile(0.975, 4.0) < between && between < quantile(0.975, 3.0), "{between}");
    }

    #[test]
    fn the_gamma_function_is_the_factorial() {
        assert!((ln_gamma(6.0) - 120_f64.ln()).abs() < 1e-12);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
    }
}
