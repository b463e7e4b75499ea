//! One transaction, as log and report use it.

/// How a transaction ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransactionOutcome {
    /// Successfully, at whichever try.
    #[default]
    Ok,
    /// It never started, because it was later than the latency limit.
    Skipped,
    /// By an error, at its last try.
    Failed(TransactionError),
}

/// The error that a transaction finally failed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionError {
    /// SQLSTATE 40001.
    Serialization,
    /// SQLSTATE 40P01.
    Deadlock,
    /// Any other SQL error, with `--continue-on-error`.
    Other,
}

/// One transaction that ended or was skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TxRecord {
    /// The client's number, from 0.
    pub client: u32,
    /// The number of this transaction of its client, including skipped and failed ones, from 1.
    pub number: u64,
    /// The script's number, from 0.
    pub script: u32,
    /// The end, in microseconds since 1970.
    pub end_epoch_us: i64,
    /// From the scheduled start to the end. Used only if the outcome is `Ok`.
    pub latency_us: f64,
    /// From the scheduled to the actual start, with `--rate`. Used only if the outcome is `Ok`.
    pub lag_us: f64,
    /// How it ended.
    pub outcome: TransactionOutcome,
    /// The number of tries; 1 without retries. Not used for a skipped one.
    pub tries: u32,
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::Accounting;

    pub(crate) fn accountings() -> impl Strategy<Value = Accounting> {
        (any::<bool>(), proptest::option::of(1u64..1_000_000), 0u32..4, any::<bool>(), any::<bool>()).prop_map(
            |(throttled, latency_limit_us, max_tries, failures_detailed, continue_on_error)| Accounting {
                throttled,
                latency_limit_us,
                max_tries,
                failures_detailed,
                continue_on_error,
            },
        )
    }

    fn outcomes() -> impl Strategy<Value = TransactionOutcome> {
        prop_oneof![
            4 => Just(TransactionOutcome::Ok),
            1 => Just(TransactionOutcome::Skipped),
            1 => Just(TransactionOutcome::Failed(TransactionError::Serialization)),
            1 => Just(TransactionOutcome::Failed(TransactionError::Deadlock)),
            1 => Just(TransactionOutcome::Failed(TransactionError::Other)),
        ]
    }

    prop_compose! {
        fn record()(
            (client, number, script) in (0u32..20, 1u64..1000, 0u32..3),
            gap_us in prop_oneof![1i64..300_000, 1i64..9_000_000],
            (latency_us, lag_us) in (0u32..2_000_000, 0u32..1_000_000),
            outcome in outcomes(),
            tries in 1u32..5,
        ) -> TxRecord {
            let (latency_us, lag_us) = (f64::from(latency_us), f64::from(lag_us));
            TxRecord { client, number, script, end_epoch_us: gap_us, latency_us, lag_us, outcome, tries }
        }
    }

    /// When the runs of these tests start.
    pub(crate) const START_US: i64 = 1_795_308_392_123_456;

    /// Returns transactions, ordered by their ends.
    pub(crate) fn records(most: usize) -> impl Strategy<Value = Vec<TxRecord>> {
        proptest::collection::vec(record(), 0..most).prop_map(|mut records| {
            let mut end_epoch_us = START_US;
            for tx in &mut records {
                end_epoch_us += tx.end_epoch_us;
                tx.end_epoch_us = end_epoch_us;
            }
            records
        })
    }
}
