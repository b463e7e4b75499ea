//! The distribution of keys that has the profile of the draws in a log.

use super::draws::Draws;
use crate::form::ValueProfile;

/// The share by which a distribution may differ from a profile beside the noise of counting, and how many times both it may differ
/// where it is near enough.
const INEXACT: f64 = 0.05;
const NEAR: f64 = 2.0;

/// The greatest exponent.
const THETA_MAX: f64 = 2.5;

/// Factor from one tried number of hot keys to the next; also the smallest number.
const HOT_STEP: f64 = 1.4;

/// Returns the simplest distribution over so many keys that has the profile, or else the nearest: uniform, zipfian, some hot keys.
pub(super) fn draws(profile: &ValueProfile, keys: f64) -> Draws {
    let distance = |draws: Draws| distance(profile, draws, keys);
    if distance(Draws::UNIFORM) <= NEAR {
        return Draws::UNIFORM;
    }
    let zipfian = zipfian(&distance);
    let of_zipfian = distance(zipfian);
    if of_zipfian <= NEAR {
        return zipfian;
    }
    let hot = hot_keys(profile, keys, &distance);
    if distance(hot) < of_zipfian { hot } else { zipfian }
}

/// Returns the nearest zipfian distribution, by a golden section of the exponents.
fn zipfian(distance: &impl Fn(Draws) -> f64) -> Draws {
    let of = |theta: f64| distance(Draws::Zipfian { theta });
    let golden = (5_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.05, THETA_MAX);
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut of_a, mut of_b) = (of(a), of(b));
    while high - low > 0.01 {
        if of_a < of_b {
            (high, b, of_b) = (b, a, of_a);
            a = high - golden * (high - low);
            of_a = of(a);
        } else {
            (low, a, of_a) = (a, b, of_b);
            b = low + golden * (high - low);
            of_b = of(b);
        }
    }
    Draws::Zipfian { theta: (low + high) / 2.0 }
}

/// Returns the nearest number of hot keys with their share.
fn hot_keys(profile: &ValueProfile, keys: f64, distance: &impl Fn(Draws) -> f64) -> Draws {
    let of = |hot: f64| Draws::HotKeys { hot: hot.round(), share: share_of_first(profile, hot) };
    let all = (0..).map(|power| HOT_STEP.powi(power)).take_while(|hot| *hot < keys);
    let nearest = |candidates: Vec<f64>| {
        let distances = candidates.into_iter().map(|hot| (hot, distance(of(hot))));
        distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(1.0, |(hot, _)| hot)
    };
    let near = nearest(all.collect());
    let around = [0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2];
    of(nearest(around.map(|part| (near * part).clamp(1.0, keys)).to_vec()))
}

/// Returns the share of the draws that the most frequent values have: so many, or as many as were drawn.
fn share_of_first(profile: &ValueProfile, first: f64) -> f64 {
    if first >= profile.distinct as f64 {
        return 1.0;
    }
    let place = first.log2();
    let at = |place: usize| profile.most_frequent.get(place).copied().unwrap_or(profile.draws) as f64;
    let (low, high) = (at(place as usize), at(place as usize + 1));
    ((low + (high - low) * place.fract()) / profile.draws.max(1) as f64).clamp(0.0, 1.0)
}

/// Returns how far a distribution is from a profile: the mean over its figures of the difference by its noise. 1 is as near as
/// another sample of the same distribution.
fn distance(profile: &ValueProfile, draws: Draws, keys: f64) -> f64 {
    let (distinct, most_frequent) = draws.profile(keys, profile.draws);
    let square = |a: u64, b: u64| {
        let (a, b) = (a as f64, b as f64);
        (a - b).powi(2) / (a + b + (INEXACT * a).powi(2)).max(1.0)
    };
    let figures = profile.most_frequent.len().max(most_frequent.len());
    let of = |all: &[u64], at: usize, rest: u64| all.get(at).copied().unwrap_or(rest);
    let sum: f64 = (0..figures)
        .map(|at| square(of(&profile.most_frequent, at, profile.draws), of(&most_frequent, at, profile.draws)))
        .sum();
    (sum + square(profile.distinct, distinct)) / (figures + 1) as f64
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::Rng;

    use super::*;

    /// Returns the profile of another sample than the one that distributions are compared with.
    fn sampled(draws: Draws, keys: f64, number: u64) -> ValueProfile {
        let list = draws.times(keys, 1_000_000);
        let mut random = Rng::new(77);
        let mut counts = vec![0; list.len()];
        let rows: Vec<_> =
            (0..).zip(&list).flat_map(|(key, times)| std::iter::repeat_n(key, *times as usize)).collect();
        (0..number).for_each(|_| counts[rows[random.up_to(rows.len() as u64 - 1) as usize] as usize] += 1);
        let (distinct, most_frequent) = ValueProfile::of_counts(counts.into_iter().filter(|n| *n > 0).collect());
        ValueProfile { statement: 0, parameter: 1, draws: number, distinct, most_frequent }
    }

    #[test]
    fn a_sample_shows_the_distribution_behind_it() {
        // Of 100,000 keys 3,000 draws show few: naive frequencies would be far more uniform, or have far fewer keys.
        for (theta, number) in [(0.7, 3000), (0.99, 3000), (1.3, 1000), (0.99, 20_000)] {
            let found = draws(&sampled(Draws::Zipfian { theta }, 1e5, number), 1e5);
            let Draws::Zipfian { theta: found } = found else { panic!("{theta}: {found:?}") };
            assert!((found - theta).abs() < 0.08, "{theta}: {found}");
        }
        assert_eq!(draws(&sampled(Draws::UNIFORM, 1e5, 3000), 1e5), Draws::UNIFORM);
        assert_eq!(draws(&sampled(Draws::UNIFORM, 500.0, 3000), 500.0), Draws::UNIFORM);
    }

    #[test]
    fn some_hot_keys_are_no_zipfian_distribution() {
        for (hot, share) in [(700.0, 1.0), (20.0, 0.5)] {
            let found = draws(&sampled(Draws::HotKeys { hot, share }, 1e5, 5000), 1e5);
            let Draws::HotKeys { hot: found, share: of } = found else { panic!("{found:?}") };
            assert!((found / hot - 1.0).abs() < 0.25 && (of - share).abs() < 0.1, "{hot}, {share}: {found}, {of}");
        }
    }
}
