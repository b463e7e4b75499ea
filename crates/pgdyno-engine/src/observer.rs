//! Observers of every transaction: they write logs.

use pgdyno_wire::{ErrorClass, SqlState};
use pgdyno_workload::Marks;

use crate::Tick;

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxOutcome {
    /// Completed.
    Completed,
    /// Failed for good.
    Failed(ErrorClass),
    /// Skipped, because it was later than the limit.
    Skipped,
}

/// A transaction that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxEnd {
    /// Its client's number within the stage.
    pub client: u32,
    /// Its number within its client's transactions, from 1.
    pub number: u64,
    /// The kind of transaction.
    pub txn: usize,
    /// Its intended start.
    pub intended: Tick,
    /// When its first byte was sent. Undefined if it was skipped.
    pub begun: Tick,
    /// When it ended.
    pub end: Tick,
    /// How it ended.
    pub outcome: TxOutcome,
    /// Number of tries. Undefined if it was skipped.
    pub tries: u32,
}

/// Knowledge of a client about a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitClass {
    /// The server said that it is committed.
    Acknowledged,
    /// The server said so, and that it did not wait for its synchronous standbys to the end.
    LocallyOnly,
    /// It was not committed: the server said so, or the connection was lost before COMMIT was sent.
    Failed,
    /// The connection was lost, or the time limit passed, after COMMIT was sent.
    Unknown,
}

/// Observes every transaction of one engine thread, on that thread: it must not block. It does not see the
/// transaction in which a client aborts: pgbench does not log it either.
pub trait Observer: Send {
    /// Called when the client's own connection is open; `process` is the number of the server's process, and `server` its
    /// address. Not called for connections that clients share.
    fn connected(&mut self, _client: u32, _process: i32, _server: &str) {}
    /// Called when a transaction ends.
    fn transaction(&mut self, end: &TxEnd);
    /// Called after [`Observer::transaction`] if the transaction completed and has markers.
    fn marks(&mut self, _end: &TxEnd, _marks: Marks<'_>) {}
    /// Called in a run with a ledger when a transaction ends that was to commit, and for one in progress at the end. `code` is
    /// the SQLSTATE of its failure, if the server gave one.
    fn commit(&mut self, _end: &TxEnd, _class: CommitClass, _code: Option<SqlState>, _marks: Marks<'_>) {}
    /// Called for a transaction that is still in progress at the end of its stage. Its outcome has no meaning.
    fn unfinished(&mut self, _end: &TxEnd) {}
    /// Called after the thread's last transaction.
    fn finish(&mut self, _end: Tick) {}
}
