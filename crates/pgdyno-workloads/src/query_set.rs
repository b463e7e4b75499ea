//! Sets of queries, as TPC-H, TPC-DS and CH-benCHmark have them: their names, the orders of streams, a choice of them, their stages
//! and metrics, and the checks of their answers and of the rows that they read.

pub(crate) mod answers;
pub(crate) mod digests;
pub(crate) mod metrics;
pub(crate) mod options;
pub(crate) mod orderings;
pub(crate) mod params;
pub(crate) mod selection;
pub(crate) mod stages;

use pgdyno_wire::{Statement, StmtId};
use pgdyno_workload::{ScriptStatement, Statements, TxnId};

/// Number of queries of TPC-H and CH-benCHmark.
pub(crate) const QUERIES: usize = 22;

/// Largest number of queries: those of TPC-DS.
pub(crate) const QUERIES_MAX: usize = 99;

/// Declares what has the number of a query in its name.
macro_rules! numbered {
    ($($number:literal)*) => {
        /// The names of all queries as transactions.
        pub(crate) const ALL_NAMES: [&str; QUERIES_MAX] = [$(concat!("q", $number)),*];
        /// The names of the checks of their answers.
        pub(crate) const ANSWERS: [&str; QUERIES_MAX] = [$(concat!("answer of q", $number)),*];
    };
}

numbered! {
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25
    26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50
    51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75
    76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99
}

/// The names of the 22 queries as transactions.
pub(crate) const NAMES: [&str; QUERIES] = first(ALL_NAMES);

/// Returns the names of the first queries.
const fn first(all: [&'static str; QUERIES_MAX]) -> [&'static str; QUERIES] {
    let mut names = [""; QUERIES];
    let mut nth = 0;
    while nth < QUERIES {
        names[nth] = all[nth];
        nth += 1;
    }
    names
}

/// Returns the transaction of query `query`, from 1, if the transactions of its scripts begin with the queries.
pub(crate) fn txn(query: usize) -> TxnId {
    TxnId(query as u8 - 1)
}

/// Returns the statement of query `query`, from 1, if the statements of its scripts are made by [`statements`].
pub(crate) fn statement(query: usize) -> StmtId {
    StmtId(query as u32 - 1)
}

/// Returns the statements of so many queries, each part of its transaction; `text` returns the text of a query.
pub(crate) fn statements(queries: usize, text: impl Fn(usize) -> String) -> Statements {
    (1..=queries).map(|query| ScriptStatement::of(txn(query), Statement::new(text(query), &[]))).collect()
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
