//! Sets of 22 queries, as TPC-H and CH-benCHmark have them: their names, the orders of streams, and a choice of them.

pub(crate) mod options;
pub(crate) mod orderings;
pub(crate) mod selection;

use pgdyno_wire::{Statement, StmtId};
use pgdyno_workload::{ScriptStatement, Statements, TxnId};

/// Number of queries.
pub(crate) const QUERIES: usize = 22;

/// The names of the queries as transactions.
pub(crate) const NAMES: [&str; QUERIES] = [
    "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "q16", "q17",
    "q18", "q19", "q20", "q21", "q22",
];

/// Returns the transaction of query `query`, 1 to 22, if the transactions of its scripts begin with the queries.
pub(crate) fn txn(query: usize) -> TxnId {
    TxnId(query as u8 - 1)
}

/// Returns the statement of query `query`, 1 to 22, if the statements of its scripts are made by [`statements`].
pub(crate) fn statement(query: usize) -> StmtId {
    StmtId(query as u32 - 1)
}

/// Returns the statements of the queries, each part of its transaction; `text` returns the text of a query.
pub(crate) fn statements(text: impl Fn(usize) -> String) -> Statements {
    (1..=QUERIES).map(|query| ScriptStatement::of(txn(query), Statement::new(text(query), &[]))).collect()
}

/// Seconds that a query may take by default: the server's own limit counts.
pub(crate) const TIMEOUT_S: i64 = 86_400;

/// Returns how many milliseconds a query may take, if that is limited, of the value of a parameter.
pub(crate) fn limit_ms(timeout_ms: i64) -> Option<i64> {
    Some(timeout_ms).filter(|ms| *ms < 1000 * TIMEOUT_S)
}

/// Returns SQL that limits the time of each query of a session.
pub(crate) fn limit(timeout_ms: i64) -> String {
    format!("set statement_timeout = {timeout_ms}")
}
