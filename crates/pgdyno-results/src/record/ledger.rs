//! The ledger of a run: which commits the server acknowledged, which of them it has afterwards, and for how long there were none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::outage::OutageRecord;

/// The commits of a run, and what the server has of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerRecord {
    /// The number by which the run's markers are known.
    pub run: i64,
    /// The name of the transaction that writes markers.
    pub transaction: String,
    /// Commits that the server acknowledged, those that it said are on this server only left out.
    pub acknowledged: u64,
    /// Commits that the server acknowledged, and whose client does not know their marker.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unmarked: u64,
    /// Commits that are on one server only, as it said: it did not wait for its synchronous standbys to the end.
    pub locally_only: u64,
    /// Commits that failed, as the server said, or whose connection was lost before COMMIT was sent.
    pub failed: u64,
    /// Commits whose connection was lost, or whose time had passed, after COMMIT was sent.
    pub unknown: u64,
    /// What the server has of them; absent if it could not be read.
    #[serde(flatten)]
    pub found: Option<MarkersFound>,
    /// Why the markers could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_read: Option<String>,
    /// Why commits are missing in `ledger.csv`, so that nothing is proven; absent if it has all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<String>,
    /// When there were no commits.
    #[serde(flatten)]
    pub outage: OutageRecord,
    /// The servers that acknowledged commits, by their address.
    pub endpoints: Vec<LedgerEndpointRecord>,
    /// How long two servers acknowledged commits at the same time; absent if they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap_s: Option<f64>,
    /// The server's timeline before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline_before: Option<String>,
    /// The timeline of the server on which the markers were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline_after: Option<String>,
    /// Settings that decide which commits survive, as the clients had them before the run.
    pub settings: BTreeMap<String, String>,
    /// Whether these settings promise that what was acknowledged survives what has happened.
    pub is_promised: bool,
}

/// Markers that the server has, beside those that the clients know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkersFound {
    /// Acknowledged commits that the server does not have.
    pub lost: u64,
    /// Commits on one server only that the server does not have.
    pub locally_only_absent: u64,
    /// Unknown commits that the server has.
    pub unknown_present: u64,
    /// Unknown commits that the server does not have.
    pub unknown_absent: u64,
    /// Unknown commits without a known marker: the server would have returned it in the lost answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown_unmarked: u64,
    /// Failed commits that the server has.
    pub resurrected: u64,
    /// Markers that the server has more than once.
    pub duplicated: u64,
    /// Lost commits of a client that has later ones on the server.
    pub holes: u64,
    /// Markers of the run that no client has recorded: pgdyno was killed, or another program wrote them.
    pub unrecorded: u64,
    /// Time from the first acknowledgement that was lost to the last; absent if none was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_window_s: Option<f64>,
    /// Sessions on that server whose commit waits for a synchronous standby. Its rows are not visible before, so it counts as absent.
    pub still_waiting: u64,
    /// The server on which they were read.
    pub read_on: String,
    /// Whether it is a standby.
    pub is_standby: bool,
}

/// A server that acknowledged commits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerEndpointRecord {
    /// Its address, as clients connected to it.
    pub address: String,
    /// Commits that it acknowledged.
    pub acknowledged: u64,
    /// Its first acknowledgement, since the first transaction with a marker began.
    pub first_s: f64,
    /// Its last one.
    pub last_s: f64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl LedgerRecord {
    /// Returns true if commits are lost that the settings promise to keep.
    #[must_use]
    pub fn breaks_promise(&self) -> bool {
        self.is_promised && self.found.as_ref().is_some_and(|found| found.lost > 0)
    }
}
