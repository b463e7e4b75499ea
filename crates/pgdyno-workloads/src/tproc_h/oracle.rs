//! The queries for DuckDB, whose answers at any scale factor and with any parameters are compared with the server's.

use pgdyno_workload::{Oracle, OracleQuery, OracleTable};

use super::answers;
use super::current::{CurrentRows, TABLES};
use super::queries;
use super::scale::ScaleFactor;
use super::schema;
use crate::query_set::ANSWERS;
use crate::query_set::answers::{CONDITION, oracle_query};

/// Returns the rows after so many pairs of refresh functions, and the queries with their parameters.
pub(super) fn of(
    scale: ScaleFactor,
    pairs: u32,
    wanted: impl Iterator<Item = (usize, Vec<String>)>,
    left_out: &[usize],
) -> Oracle {
    let table = |(name, of): &(&'static str, _)| OracleTable {
        name,
        columns: schema::wide_columns(name),
        rows: Box::new(CurrentRows::of(*of, scale, pairs)),
    };
    Oracle {
        tables: TABLES.iter().map(table).collect(),
        queries: wanted.map(|(number, values)| query(number, &values)).collect(),
        left_out: left_out.iter().map(|number| ANSWERS[number - 1]).collect(),
    }
}

/// Returns what sorts the rows of a query that returns many and leaves the order of some open.
fn order(number: usize) -> &'static str {
    if number == 11 { "order by q.value desc, q.ps_partkey" } else { "" }
}

fn query(number: usize, values: &[String]) -> OracleQuery {
    let (text, columns) = (queries::text(number, values), answers::columns(number));
    oracle_query(number, CONDITION, columns, text, order(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_its_parameters_and_all_columns_as_text() {
        let oracle = of(ScaleFactor::ONE, 0, [(1, vec!["90".to_owned()])].into_iter(), &[17]);
        assert_eq!((oracle.tables.len(), oracle.left_out), (8, vec!["answer of q17"]));
        let sql = &oracle.queries[0].sql;
        assert!(sql.contains("q.avg_qty::varchar::decimal(38,2)") && sql.contains("'90'"), "{sql}");
        assert!(oracle.tables[6].columns.starts_with("o_orderkey bigint, "));
        let check = (oracle.queries[0].check)("A|F|1.00\n");
        let differences = check.sql.text(&|| false).unwrap();
        assert!(check.name == "answer of q1" && differences.contains("$answer$A|F|1.00$answer$"), "{differences}");
    }
}
