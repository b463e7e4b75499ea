//! Another program's answers to a workload's queries over the same rows, with which the server's are compared.

use crate::{Check, RowSource};

/// What is known of the answers to a drive's queries. `changes` is what earlier runs have changed, in the words of the
/// stamp.
pub trait Answers: Send + Sync {
    /// Returns what another program needs to answer the queries over the same rows, if that is possible.
    fn oracle(&self, changes: Option<&str>) -> Option<Oracle>;
    /// Returns a name for the rows that queries read: queries with the same text have the same answers wherever it is
    /// the same. `None` if there is none, or they change meanwhile. `in_run` is whether the first stage of a run reads
    /// them, which may change them before.
    fn rows_read(&self, changes: Option<&str>, in_run: bool) -> Option<String>;
}

/// Tables and queries for a program that is known to answer right, such as DuckDB.
pub struct Oracle {
    /// The tables, with the rows that the server must have now.
    pub tables: Vec<OracleTable>,
    /// The queries, each with its parameters.
    pub queries: Vec<OracleQuery>,
    /// Queries that are left out because the server would take hours, by the names of their checks.
    pub left_out: Vec<&'static str>,
}

/// A table of an oracle.
pub struct OracleTable {
    /// Its name.
    pub name: &'static str,
    /// Names and types of its columns, in SQL.
    pub columns: String,
    /// Its rows, in COPY's text format.
    pub rows: Box<dyn RowSource>,
}

/// A query of an oracle.
pub struct OracleQuery {
    /// Name of its check: `answer of q1`.
    pub name: &'static str,
    /// SQL in the oracle's dialect. All of its columns are text.
    pub sql: String,
    /// Makes the check from the oracle's rows: one in each line, its fields separated by `|`.
    pub check: Box<dyn Fn(&str) -> Check>,
}
