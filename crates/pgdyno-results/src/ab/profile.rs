//! The profiles of both sides of an experiment, stack by stack.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Different stacks at most. Further ones count as their root, so that sums are right.
const STACKS_MAX: usize = 4000;

/// CPU samples of the servers' processes in the slices of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbProfile {
    /// Samples a second on each CPU that a process of the server was on.
    pub frequency_hz: u32,
    /// Transactions that A committed while samples were taken.
    pub a_transactions: f64,
    /// B's.
    pub b_transactions: f64,
    /// Call stacks, in the order in which they were found.
    pub stacks: Vec<AbStack>,
}

/// A call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbStack {
    /// Its frames from the root to the leaf, separated by semicolons.
    pub stack: String,
    /// Samples of A.
    pub a: u64,
    /// Samples of B.
    pub b: u64,
}

impl AbProfile {
    /// Returns true if no slice had a profile.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Adds the profile of a slice of a side: 0 is A. `transactions` were committed while samples were taken.
    pub fn add(&mut self, side: usize, stacks: Vec<(String, u64)>, transactions: f64) {
        *(if side == 0 { &mut self.a_transactions } else { &mut self.b_transactions }) += transactions;
        let known = self.stacks.iter().enumerate();
        let mut places: HashMap<String, usize> = known.map(|(nth, stack)| (stack.stack.clone(), nth)).collect();
        for (stack, samples) in stacks {
            let stack = match places.len() < STACKS_MAX || places.contains_key(&stack) {
                true => stack,
                false => stack.split(';').next().unwrap_or_default().to_owned(),
            };
            let place = *places.entry(stack).or_insert_with_key(|stack| {
                self.stacks.push(AbStack { stack: stack.clone(), ..AbStack::default() });
                self.stacks.len() - 1
            });
            let sums = &mut self.stacks[place];
            let sum = if side == 0 { &mut sums.a } else { &mut sums.b };
            *sum = sum.saturating_add(samples);
        }
    }

    /// Returns the samples of both sides.
    #[must_use]
    pub fn samples(&self) -> [u64; 2] {
        self.stacks.iter().fold([0_u64; 2], |[a, b], stack| [a.saturating_add(stack.a), b.saturating_add(stack.b)])
    }

    /// Returns the CPU time of a committed transaction that one sample stands for on each side, in nanoseconds; 0 without transactions.
    #[must_use]
    pub fn sample_ns(&self) -> [f64; 2] {
        let ns = 1e9 / f64::from(self.frequency_hz.max(1));
        [self.a_transactions, self.b_transactions].map(|n| if n > 0.0 { ns / n } else { 0.0 })
    }

    /// Returns the stacks as `difffolded.pl` writes them: a line for each, with the samples of A and of B.
    #[must_use]
    pub fn folded(&self) -> String {
        self.stacks.iter().map(|AbStack { stack, a, b }| format!("{stack} {a} {b}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(all: &[(&str, u64)]) -> Vec<(String, u64)> {
        all.iter().map(|(stack, samples)| ((*stack).to_owned(), *samples)).collect()
    }

    #[test]
    fn samples_of_slices_are_summed_by_side() {
        let mut profile = AbProfile { frequency_hz: 100, ..AbProfile::default() };
        assert!(profile.is_empty() && profile.sample_ns() == [0.0, 0.0]);
        profile.add(0, stacks(&[("postgres;main", 3), ("postgres;x", 1)]), 100.0);
        profile.add(1, stacks(&[("postgres;main", 2), ("postgres;y", 5)]), 50.0);
        profile.add(0, stacks(&[("postgres;main", 4)]), 100.0);
        assert_eq!(profile.folded(), "postgres;main 7 2\npostgres;x 1 0\npostgres;y 0 5\n");
        // A sample is 10 ms of CPU time, of 200 transactions of A and 50 of B.
        assert_eq!(profile.sample_ns(), [5e4, 2e5]);
    }

    #[test]
    fn of_too_many_stacks_the_root_has_the_samples() {
        let mut profile = AbProfile::default();
        let many: Vec<_> = (0..STACKS_MAX + 10).map(|nth| (format!("postgres;f{nth}"), 1)).collect();
        let samples = many.len() as u64;
        profile.add(0, many, 1.0);
        assert_eq!(profile.stacks.len(), STACKS_MAX + 1);
        assert_eq!(profile.stacks.iter().map(|stack| stack.a).sum::<u64>(), samples);
        assert_eq!(profile.stacks.last().unwrap(), &AbStack { stack: "postgres".to_owned(), a: 10, b: 0 });
    }
}
