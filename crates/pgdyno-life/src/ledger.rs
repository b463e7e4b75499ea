//! The ledger of a run: its commits are written while it goes on ([`writer`]), the server's markers are read at its end
//! ([`server`]), and both are compared ([`account`], [`outage`]). [ADR 34](../../../docs/adr/0034-proven-commits.md) has the reasons.

mod account;
mod again;
mod course;
mod keys;
mod outage;
mod promise;
mod server;
mod writer;

pub use again::{CheckedLedger, check};

pub(crate) use server::{LedgerBefore, LookBack, look_back, look_before};
pub(crate) use writer::LedgerWriter;
