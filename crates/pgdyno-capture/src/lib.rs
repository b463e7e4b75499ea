//! What a server executes, taken from its own counters: statements, tables and connections in one file; and a benchmark made of it.
//!
//! - [`take`] reads the counters of `pg_stat_statements` at both ends of a window, and what explains them, over one connection;
//! - [`CaptureRecord`] is what was read; [`write()`] and [`read`] keep it in a file;
//! - [`FORMATS`] shows it;
//! - [`statement_key`] and [`whole_statement_key`] find a statement among those that another server counts;
//! - [`fit`] finds values for the parameters of its statements on a copy of the database, and makes the files of a workload directory.
//!
//! docs/capture.md says what a capture holds and what not, and how values are found.

mod classify;
mod file;
mod fit;
mod form;
#[doc(hidden)]
pub mod fuzzing;
mod refusal;
mod same;
mod show;
mod take;
#[cfg(test)]
mod tests;
mod tokens;

pub use file::{FileError, read, write};
pub use fit::{
    Fidelity, FitError, FitOrder, FittedStatement, FittedTransaction, FittedWorkload, KeySkew, KeySkewSource, fit,
    is_near,
};
pub use form::{
    ApplicationConnections, CaptureCost, CaptureHead, CaptureRecord, CapturedColumn, CapturedRelation, CapturedServer,
    CapturedSetting, CapturedStatement, CapturedTransaction, CapturedTransactions, DatabaseActivity, ParameterFlow,
    RelationActivity, StatementKind, TransactionStep, ValueProfile, Window,
};
pub use refusal::{QueryError, Refusal};
pub use same::{statement_key, whole_statement_key};
pub use show::FORMATS;
pub use take::{CaptureOrder, Progress, TakeError, take};
