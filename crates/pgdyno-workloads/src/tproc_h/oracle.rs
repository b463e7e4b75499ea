//! The queries for DuckDB, whose answers at any scale factor and with any parameters are compared with the server's.

use pgdyno_workload::{Check, CheckCost, Expect, Oracle, OracleQuery, OracleTable};

use super::answers::{self, Answer, CHECKS};
use super::current::{CurrentRows, TABLES};
use super::queries;
use super::scale::ScaleFactor;
use super::schema;

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
        left_out: left_out.iter().map(|number| CHECKS[number - 1].0).collect(),
    }
}

/// Returns what sorts the rows of a query that returns many and leaves the order of some open.
fn order(number: usize) -> &'static str {
    if number == 11 { "order by q.value desc, q.ps_partkey" } else { "" }
}

fn query(number: usize, values: &[String]) -> OracleQuery {
    let (name, condition) = CHECKS[number - 1];
    let text = queries::text(number, values);
    let columns = answers::columns(number);
    // Without an order of its own the outer query keeps that of the inner one.
    let fields = Answer::read(columns).columns.iter().map(field).collect::<Vec<_>>().join(", ");
    let sql = format!("select {fields} from (\n{text}\n) as q {}", order(number));
    let check = move |rows: &str| Check {
        name,
        condition,
        sql: Answer::read(&format!("{columns}\n{rows}")).differences(&text, order(number)).into(),
        parts: None,
        expect: Expect::Answer,
        cost: CheckCost::Expensive,
    };
    OracleQuery { name, sql, check: Box::new(check) }
}

/// Returns SQL for a field as text. DuckDB divides in floating point: the shortest decimal is exact before it is
/// rounded.
fn field((name, kind): &(&str, &str)) -> String {
    match *kind {
        "number" => format!("coalesce(q.{name}::varchar::decimal(38,2)::varchar, 'NULL')"),
        "date" => format!("coalesce(strftime(q.{name}, '%Y-%m-%d'), 'NULL')"),
        _ => format!("coalesce(q.{name}::varchar, 'NULL')"),
    }
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
