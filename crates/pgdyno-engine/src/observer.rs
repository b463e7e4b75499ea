//! Who hears of every single transaction: a log.

use pgdyno_wire::ErrorClass;

use crate::Tick;

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxOutcome {
    /// Well.
    Completed,
    /// It failed for good.
    Failed(ErrorClass),
    /// It was not begun, being later than the limit.
    Skipped,
}

/// A transaction that is over.
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
    /// When its first byte was sent. Means nothing where it was skipped.
    pub begun: Tick,
    /// When it ended.
    pub end: Tick,
    /// How it ended.
    pub outcome: TxOutcome,
    /// How often it was tried. Means nothing where it was skipped.
    pub tries: u32,
}

/// Hears of every transaction of one engine thread, on that thread: it must not wait. Only of one in which its client is
/// given up it does not hear: that one has no end, and pgbench does not log it either.
pub trait Observer: Send {
    /// A transaction is over.
    fn transaction(&mut self, end: &TxEnd);
    /// The thread's last transaction is over.
    fn finish(&mut self, _end: Tick) {}
}
