//! The functions whose CPU time changed between the sides of an experiment.

use std::collections::BTreeMap;

use pgdyno_results::{AbProfile, AbStack};

/// A change of fewer standard deviations of its samples (Poisson's) could be chance, as there are many functions.
const DEVIATIONS_MIN: f64 = 4.0;

/// A change of less than this share of a transaction's CPU time does not matter.
const SHARE_MIN: f64 = 0.01;

/// A function, and the CPU time that it takes itself in a committed transaction of each side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FunctionTime {
    /// Its name, as in the stacks.
    pub(crate) name: String,
    /// Of A.
    pub(crate) a_ns: f64,
    /// Of B.
    pub(crate) b_ns: f64,
}

impl FunctionTime {
    /// Returns by how much it takes more in a transaction of B.
    pub(crate) fn change_ns(&self) -> f64 {
        self.b_ns - self.a_ns
    }
}

/// Returns the functions whose own time changed for sure, those that changed most first.
pub(crate) fn changed(profile: &AbProfile) -> Vec<FunctionTime> {
    let mut samples: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for AbStack { stack, a, b } in &profile.stacks {
        let of = samples.entry(stack.rsplit(';').next().unwrap_or_default()).or_default();
        *of = [of[0].saturating_add(*a), of[1].saturating_add(*b)];
    }
    let [of_a, of_b] = profile.sample_ns();
    let [all_of_a, all_of_b] = profile.samples().map(|samples| samples as f64);
    let transaction_ns = [all_of_a * of_a, all_of_b * of_b];
    // Without samples of one side there is nothing to compare.
    if transaction_ns.iter().any(|ns| *ns <= 0.0) {
        return Vec::new();
    }
    let is_sure = |[a, b]: [f64; 2]| {
        let (change_ns, deviation_ns) = ((b * of_b - a * of_a).abs(), (a * of_a * of_a + b * of_b * of_b).sqrt());
        change_ns >= DEVIATIONS_MIN * deviation_ns && change_ns >= SHARE_MIN * transaction_ns[0].max(transaction_ns[1])
    };
    let sampled = samples.into_iter().map(|(name, samples)| (name, samples.map(|n| n as f64)));
    let time =
        |(name, [a, b]): (&str, [f64; 2])| FunctionTime { name: name.to_owned(), a_ns: a * of_a, b_ns: b * of_b };
    let mut functions: Vec<_> = sampled.filter(|(_, samples)| is_sure(*samples)).map(time).collect();
    functions.sort_by(|x, y| y.change_ns().abs().total_cmp(&x.change_ns().abs()));
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(b: &[(&str, u64)], transactions: f64) -> AbProfile {
        let stacks = |all: &[(&str, u64)]| all.iter().map(|(stack, n)| ((*stack).to_owned(), *n)).collect::<Vec<_>>();
        let mut profile = AbProfile { frequency_hz: 200, ..AbProfile::default() };
        profile.add(0, stacks(&[("postgres;scan", 400), ("postgres;sort;cmp", 300), ("postgres;cmp", 100)]), 1000.0);
        profile.add(1, stacks(b), transactions);
        profile
    }

    #[test]
    fn the_function_that_changed_most_comes_first_wherever_it_was_called() {
        let found = changed(&profile(&[("postgres;scan", 200), ("postgres;cmp", 500), ("postgres;new", 60)], 500.0));
        // Scans take 2 ms of each transaction as before.
        let new = FunctionTime { name: "new".to_owned(), a_ns: 0.0, b_ns: 0.6e6 };
        assert_eq!(found, [FunctionTime { name: "cmp".to_owned(), a_ns: 2e6, b_ns: 5e6 }, new]);
    }

    #[test]
    fn scatter_of_samples_and_a_side_without_any_are_no_change() {
        assert_eq!(changed(&profile(&[("postgres;scan", 430), ("postgres;cmp", 370)], 1000.0)), []);
        assert_eq!(changed(&profile(&[], 1000.0)), []);
        assert_eq!(changed(&AbProfile::default()), []);
    }
}
