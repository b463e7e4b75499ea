//! Another program's answers to a workload's queries over the same rows, with which the server's are compared.

use crate::{Check, RowSource};

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
