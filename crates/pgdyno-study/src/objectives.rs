//! Objectives of a search or a frontier, and the kinds of transactions that they are about.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_results::Objective;
use pgdyno_workload::Txn;

/// Returns the objectives with the names of this workload's kinds of transactions.
///
/// # Errors
/// When the workload does not run one of them.
pub fn of_workload(objectives: Vec<Objective>, kinds: &[Txn]) -> Result<Vec<Objective>> {
    let known: Vec<_> = kinds.iter().filter(|kind| kind.weight > 0.0).map(|kind| kind.name).collect();
    let named = objectives.into_iter().map(|objective| objective.of_workload(&known));
    named
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| CommandError::new(Code::Start, format!("--slo {error}")))
}

/// Returns the share of the rarest kind that an objective names in all transactions; 1 if none names one.
#[must_use]
pub fn rarest_share(objectives: &[Objective], kinds: &[Txn]) -> f64 {
    let all: f64 = kinds.iter().map(|kind| kind.weight).sum();
    let named = |kind: &&Txn| objectives.iter().any(|objective| objective.transaction() == Some(kind.name));
    kinds.iter().filter(named).map(|kind| kind.weight / all).fold(1.0, f64::min)
}
