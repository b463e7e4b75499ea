//! How the clients of a run ended, without their counts.

use pgdyno_engine::{RunEnd, RunOutcome};
use pgdyno_measure::stall::Stall;

use crate::record::figures;

/// What decides the status of a run beside the figures in its record.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub(crate) ended: RunEnd,
    /// Clients without a connection at the end.
    pub(crate) clients_lost: usize,
    /// Clients that were aborted.
    pub(crate) clients_aborted: usize,
    /// Transactions that were cancelled because they did not end.
    pub(crate) cancelled: usize,
    /// Identities that do not hold, as text.
    pub(crate) broken: Vec<String>,
    /// Times in which no transaction succeeded.
    pub(crate) stalls: Vec<Stall>,
    /// Why the private server has ended, if it has.
    pub(crate) death: Option<String>,
    /// Whether the server no longer answered after the run.
    pub(crate) is_silent: bool,
    /// Why counts of the server's tables differ from those of the clients by more than is known to be uncertain.
    pub(crate) differing_count: Option<String>,
}

impl Ending {
    /// Returns the end of an outcome, of whose server nothing else is known.
    pub(crate) fn of(outcome: &RunOutcome, txn_names: &[&str]) -> Self {
        Self {
            ended: outcome.ended.clone(),
            clients_lost: outcome.clients_lost,
            clients_aborted: outcome.clients_aborted,
            cancelled: outcome.cancelled_in_flight,
            broken: figures::broken(outcome, txn_names),
            stalls: Vec::new(),
            death: None,
            is_silent: false,
            differing_count: None,
        }
    }

    /// Returns the end of clients that all did what they were to do.
    #[cfg(test)]
    pub(crate) fn complete() -> Self {
        Self {
            ended: RunEnd::Complete,
            clients_lost: 0,
            clients_aborted: 0,
            cancelled: 0,
            broken: Vec::new(),
            stalls: Vec::new(),
            death: None,
            is_silent: false,
            differing_count: None,
        }
    }
}
