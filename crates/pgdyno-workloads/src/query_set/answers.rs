//! Answers of queries that another program made, as checks.

use std::fmt::Write as _;

use pgdyno_workload::{Check, Expect, OracleQuery};

use super::ANSWERS;

/// An answer.
pub(crate) struct Answer<'a> {
    /// Names and kinds of its columns: `integer`, `number`, `date` or `text`; `any` where the value is not compared.
    pub(crate) columns: Vec<(&'a str, &'a str)>,
    /// The rows, or the first ones, as lines.
    pub(crate) rows: Vec<&'a str>,
    /// The number and the MD5 of all rows, if not all are here.
    pub(crate) all: Option<(&'a str, &'a str)>,
}

impl<'a> Answer<'a> {
    /// Reads a section of a file of answers: columns, then rows.
    pub(crate) fn read(section: &'a str) -> Self {
        let mut lines = section.lines();
        let columns = lines.next().unwrap_or_default().split('|').filter_map(|column| column.split_once(' ')).collect();
        let mut rows: Vec<_> = lines.collect();
        let all = rows.last().and_then(|last| last.strip_prefix("... ")?.split_once(' '));
        if all.is_some() {
            rows.pop();
        }
        Self { columns, rows, all }
    }

    /// Returns the names of the columns, separated by commas.
    pub(crate) fn names(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// Returns SQL for the fields of a found row as text, rounded as the answer is.
    pub(crate) fn fields(&self) -> Vec<String> {
        let field = |(name, kind): &(&str, &str)| match *kind {
            "number" => format!("coalesce(round(q.{name}::numeric, 2)::text, 'NULL')"),
            "date" => format!("coalesce(to_char(q.{name}, 'YYYY-MM-DD'), 'NULL')"),
            "any" => "'*'".to_owned(),
            _ => format!("coalesce(q.{name}::text, 'NULL')"),
        };
        self.columns.iter().map(field).collect()
    }

    /// Returns SQL whose rows are the differences of the query's rows from the answer: row, column, expected, found.
    /// `order` is what the found rows are sorted by; the query's own order where it is empty.
    pub(crate) fn differences(&self, query: &str, order: &str) -> String {
        let fields = self.fields().join(", ");
        let (lines, columns) = (self.rows.join("\n"), self.names());
        let mut sql = format!(
            "with found as (\nselect row_number() over ({order}) as row, array[{fields}] as fields from (\n{query}\n) as q ({columns})),\n\
             expected as (\nselect nth as row, string_to_array(line, '|') as fields\n  \
             from unnest(string_to_array(nullif($answer${lines}$answer$, ''), e'\\n')) with ordinality as l (line, nth)),\n\
             pairs as (\nselect coalesce(e.row, f.row) as row, e.fields as expected, f.fields as found\n  \
             from expected as e full join found as f on f.row = e.row"
        );
        if self.all.is_some() {
            // A vector of text takes everything.
            let _ = write!(sql, "\n where coalesce(e.row, f.row) <= {}", self.rows.len());
        }
        let names = self.columns.iter().map(|(name, _)| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        sql += &format!(
            ")\nselect row, (array[{names}])[n] as column, coalesce(expected[n], 'no row') as expected, \
             coalesce(found[n], 'no row') as found\n  from pairs cross join generate_series(1, {}) as n\n \
             where expected[n] is distinct from found[n]",
            self.columns.len()
        );
        if let Some((rows, md5)) = self.all {
            let all = "md5(string_agg(array_to_string(fields, '|'), e'\\n' order by row))";
            sql += &format!(
                "\nunion all\nselect null, 'rows', '{rows}', count(*)::text from found having count(*) <> {rows}\n\
                 union all\nselect null, 'MD5 of all rows', '{md5}', {all} from found having {all} is distinct from '{md5}'"
            );
        }
        sql + "\n order by 1, 2"
    }
}

/// Returns the sections of a file of answers by their names.
pub(crate) fn sections(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.split("# ").filter_map(|section| section.split_once('\n'))
}

/// What holds for an answer.
pub(crate) const CONDITION: &str = "rows and their order are those of DuckDB";

/// Returns the check that a query has this answer.
pub(crate) fn check(query: usize, condition: &'static str, differences: String) -> Check {
    Check::expensive(ANSWERS[query - 1], condition, Expect::Answer, differences)
}

/// Returns SQL in DuckDB's dialect for a field as text. DuckDB divides in floating point: the shortest decimal is exact before it is
/// rounded.
fn duckdb_field((name, kind): &(&str, &str)) -> String {
    match *kind {
        "number" => format!("coalesce(q.{name}::varchar::decimal(38,2)::varchar, 'NULL')"),
        "date" => format!("coalesce(strftime(q.{name}, '%Y-%m-%d'), 'NULL')"),
        _ => format!("coalesce(q.{name}::varchar, 'NULL')"),
    }
}

/// Returns a query for DuckDB, whose answer has these columns. `order` is what sorts its rows; its own order where it is empty.
pub(crate) fn oracle_query(
    query: usize,
    condition: &'static str,
    columns: &'static str,
    text: String,
    order: &'static str,
) -> OracleQuery {
    let answer = Answer::read(columns);
    // Without an order of its own the outer query keeps that of the inner one.
    let fields = answer.columns.iter().map(duckdb_field).collect::<Vec<_>>().join(", ");
    let sql = format!("select {fields} from (\n{text}\n) as q ({}) {order}", answer.names());
    let made = move |rows: &str| {
        check(query, condition, Answer::read(&format!("{columns}\n{rows}")).differences(&text, order))
    };
    OracleQuery { name: ANSWERS[query - 1], sql, check: Box::new(made) }
}
