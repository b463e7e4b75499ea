//! Where the clients' time of two sides went.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::RunRecord;

/// A part of the clients' time on both sides: the means of their runs, such as the slices of a unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbTime {
    /// What it was spent on, as in the records of runs.
    pub name: String,
    /// Its share of A's clients' time, 0 to 1.
    pub a_share: f64,
    /// Its share of B's.
    pub b_share: f64,
    /// The time of a committed transaction of A that it takes, in nanoseconds.
    pub a_ns: f64,
    /// Of B.
    pub b_ns: f64,
}

impl AbTime {
    /// Returns how much longer a committed transaction of B spends in it than one of A, in nanoseconds.
    #[must_use]
    pub fn change_ns(&self) -> f64 {
        self.b_ns - self.a_ns
    }
}

/// Returns where the clients' time of two sides went, as means of their runs, by name; nothing unless all runs have an account.
#[must_use]
pub fn clients_time_of<R: Borrow<RunRecord>>(sides: [&[R]; 2]) -> Vec<AbTime> {
    if sides.iter().flat_map(|runs| runs.iter()).any(|run| run.borrow().clients_time.is_empty()) {
        return Vec::new();
    }
    let mut parts: BTreeMap<&str, AbTime> = BTreeMap::new();
    for (side, runs) in sides.into_iter().enumerate() {
        for run in runs.iter().map(Borrow::borrow) {
            let transaction_ns = run.transaction_ns().unwrap_or_default();
            for part in &run.clients_time {
                let share = part.share / runs.len() as f64;
                let of =
                    parts.entry(&part.name).or_insert_with(|| AbTime { name: part.name.clone(), ..AbTime::default() });
                let (to_share, to_ns) =
                    if side == 0 { (&mut of.a_share, &mut of.a_ns) } else { (&mut of.b_share, &mut of.b_ns) };
                *to_share += share;
                *to_ns += share * transaction_ns;
            }
        }
    }
    parts.into_values().collect()
}
