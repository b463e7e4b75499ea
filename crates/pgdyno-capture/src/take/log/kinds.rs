//! Kinds of transactions, and which of their parameters have the same value.

use std::collections::HashMap;

use crate::form::{CapturedTransaction, FLOWS_MAX, ParameterFlow, TransactionStep};
use pgdyno_workload::IsolationLevel;

/// Kinds that are kept apart.
const KINDS_MAX: usize = 1000;

/// Pairs of parameters with the same later one.
const PAIRS_OF_ONE_MAX: usize = 4;

/// Transactions of a kind in which pairs are looked for.
const LOOKED_AT: u64 = 16;

/// Transactions that a kind needs before equal values say something.
const FLOW_COUNT_MIN: u64 = 5;

/// The share of the transactions in which two parameters must be equal: one may have a value by chance.
const EQUAL_SHARE: f64 = 0.95;

/// The share of the transactions that must have another value than the one before: a constant flows nowhere.
const CHANGED_SHARE: f64 = 0.1;

/// A statement that a transaction has executed, once or several times in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Its place among the captured statements.
    pub(super) statement: usize,
    pub(super) calls: u64,
    /// Hashes of the values of its parameters; `None` where one is not known or differs between the executions.
    pub(super) values: Vec<Option<u64>>,
}

/// The isolation level, and statements in their order, each with whether it is executed several times in a row.
type Key = (Option<IsolationLevel>, Vec<(usize, bool)>);

/// The kinds so far.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    kinds: HashMap<Key, Kind>,
    /// Transactions with statements.
    pub(super) count: u64,
}

#[derive(Debug)]
struct Kind {
    count: u64,
    calls: Vec<u64>,
    pairs: Vec<Pair>,
}

/// Two parameters that were equal in a transaction.
#[derive(Debug)]
struct Pair {
    flow: ParameterFlow,
    equal: u64,
    changed: u64,
    last: Option<u64>,
}

impl Kinds {
    /// Adds a transaction.
    pub(super) fn add(&mut self, isolation: Option<IsolationLevel>, steps: &[Step]) {
        if steps.is_empty() {
            return;
        }
        self.count += 1;
        let key: Key = (isolation, steps.iter().map(|step| (step.statement, step.calls > 1)).collect());
        if !self.kinds.contains_key(&key) && self.kinds.len() >= KINDS_MAX {
            return;
        }
        let new = || Kind { count: 0, calls: vec![0; steps.len()], pairs: Vec::new() };
        self.kinds.entry(key).or_insert_with(new).add(steps);
    }

    /// Returns the kinds, the most frequent first.
    pub(super) fn captured(&self) -> Vec<CapturedTransaction> {
        let mut all: Vec<_> = self.kinds.iter().collect();
        all.sort_by(|(key, a), (other, b)| b.count.cmp(&a.count).then_with(|| key.cmp(other)));
        let captured = |(key, kind): (&Key, &Kind)| {
            let step = |((statement, _), calls): (&(usize, bool), &u64)| TransactionStep {
                statement: *statement,
                calls_mean: *calls as f64 / kind.count as f64,
            };
            CapturedTransaction {
                count: kind.count,
                isolation: key.0,
                steps: key.1.iter().zip(&kind.calls).map(step).collect(),
                flows: kind.flows(),
            }
        };
        all.into_iter().map(captured).collect()
    }
}

impl Kind {
    fn add(&mut self, steps: &[Step]) {
        self.count += 1;
        self.calls.iter_mut().zip(steps).for_each(|(calls, step)| *calls += step.calls);
        if self.count <= LOOKED_AT {
            self.look_for_pairs(steps);
        }
        for pair in &mut self.pairs {
            let ParameterFlow { step, parameter, from_step, from_parameter } = pair.flow;
            let of = |step: usize, parameter: u32| steps[step].values.get(parameter as usize - 1).copied().flatten();
            let value = of(step, parameter);
            if value.is_some() && value == of(from_step, from_parameter) {
                pair.equal += 1;
                pair.changed += u64::from(pair.last.is_some() && pair.last != value);
                pair.last = value;
            }
        }
    }

    /// Notes which parameters are equal, from each later one to the first.
    fn look_for_pairs(&mut self, steps: &[Step]) {
        let mut earlier: HashMap<u64, Vec<(usize, u32)>> = HashMap::new();
        for (at, step) in steps.iter().enumerate() {
            let values: Vec<_> = (1..).zip(&step.values).filter_map(|(n, value)| Some((n, (*value)?))).collect();
            for (parameter, value) in &values {
                let itself = (step.calls > 1).then_some((at, *parameter));
                let from = earlier.get(value).into_iter().flatten().copied().chain(itself);
                for (from_step, from_parameter) in from.take(PAIRS_OF_ONE_MAX) {
                    self.note(ParameterFlow { step: at, parameter: *parameter, from_step, from_parameter });
                }
            }
            for (parameter, value) in values {
                let places = earlier.entry(value).or_default();
                if places.len() < PAIRS_OF_ONE_MAX {
                    places.push((at, parameter));
                }
            }
        }
    }

    fn note(&mut self, flow: ParameterFlow) {
        if self.pairs.len() < FLOWS_MAX && self.pairs.iter().all(|pair| pair.flow != flow) {
            self.pairs.push(Pair { flow, equal: 0, changed: 0, last: None });
        }
    }

    /// Returns for each parameter the first one that it has the value of.
    fn flows(&self) -> Vec<ParameterFlow> {
        let count = self.count as f64;
        let holds = |pair: &&Pair| {
            self.count >= FLOW_COUNT_MIN
                && pair.equal as f64 >= EQUAL_SHARE * count
                && pair.changed as f64 >= CHANGED_SHARE * count
        };
        let mut flows: Vec<_> = self.pairs.iter().filter(holds).map(|pair| pair.flow).collect();
        flows.sort_by_key(|flow| (flow.step, flow.parameter, flow.from_step, flow.from_parameter));
        flows.dedup_by_key(|flow| (flow.step, flow.parameter));
        flows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(statement: usize, calls: u64, values: &[u64]) -> Step {
        // 0 stands for a value that is not known.
        let values = values.iter().map(|value| Some(*value).filter(|value| *value > 0)).collect();
        Step { statement, calls, values }
    }

    #[test]
    fn parameters_that_are_always_equal_and_vary_are_a_flow() {
        let mut kinds = Kinds::default();
        for n in 1..=100 {
            // $1 of the second is that of the first; $2 is a constant; $3 is equal by chance at first; the third repeats the first's $1
            // in each of its executions.
            let chance = if n < 20 { n } else { 1000 + n };
            kinds.add(None, &[step(7, 1, &[n, 5]), step(8, 1, &[n, 5, chance]), step(9, 2 + n % 2, &[n, 0])]);
        }
        kinds.add(None, &[step(7, 1, &[1, 5])]);
        let all = kinds.captured();
        assert_eq!((all.len(), all[0].count, all[1].count, kinds.count), (2, 100, 1, 101));
        assert!((all[0].steps[2].calls_mean - 2.5).abs() < 1e-9);
        let flow = |step, parameter| ParameterFlow { step, parameter, from_step: 0, from_parameter: 1 };
        assert_eq!(all[0].flows, [flow(1, 1), flow(2, 1)]);
        assert_eq!(all[1].flows, []);
    }

    #[test]
    fn one_exception_does_not_hide_a_flow_and_five_do() {
        for (exceptions, flows) in [(1, 1), (10, 0)] {
            let mut kinds = Kinds::default();
            for n in 1..=100 {
                kinds.add(None, &[step(0, 1, &[n]), step(1, 1, &[if n <= exceptions { 5000 + n } else { n }])]);
            }
            assert_eq!(kinds.captured()[0].flows.len(), flows, "{exceptions}");
        }
    }

    #[test]
    fn executions_in_a_row_may_share_a_value_of_their_own() {
        let mut kinds = Kinds::default();
        (1..=10).for_each(|n| kinds.add(None, &[step(0, 3, &[n, 0])]));
        assert_eq!(
            kinds.captured()[0].flows,
            [ParameterFlow { step: 0, parameter: 1, from_step: 0, from_parameter: 1 }]
        );
    }

    #[test]
    fn kinds_and_pairs_have_a_bound() {
        let mut kinds = Kinds::default();
        (0..2 * KINDS_MAX).for_each(|n| kinds.add(None, &[step(n, 1, &[])]));
        assert_eq!((kinds.kinds.len(), kinds.count), (KINDS_MAX, 2 * KINDS_MAX as u64));
        let mut kind = Kind { count: 0, calls: vec![0; 50], pairs: Vec::new() };
        kind.add(&(0..50).map(|n| step(n, 1, &[7; 200])).collect::<Vec<_>>());
        assert_eq!(kind.pairs.len(), FLOWS_MAX);
    }
}
