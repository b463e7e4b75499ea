//! The answers of the queries with the standard's parameters as checks.
//!
//! `answers/make.py` makes them by another program, DuckDB, over the rows of tpchgen. The standard's own answers differ
//! in two places: in query 11 the keys are cut to four digits, and query 17 is 348406.02 where exact arithmetic gives
//! 348406.05.

use std::fmt::Write as _;

use pgdyno_workload::{Check, CheckCost, Expect};

use super::parameters;
use super::queries;
use super::scale::ScaleFactor;
use crate::query_set::{NAMES, QUERIES};

/// The answers by scale factor in thousandths.
const FILES: [(u64, &str); 3] = [
    (10, include_str!("answers/sf0.01.txt")),
    (100, include_str!("answers/sf0.1.txt")),
    (1000, include_str!("answers/sf1.txt")),
];

/// Names of the checks, and what must hold.
pub(super) const CHECKS: [(&str, &str); QUERIES] = [
    ("answer of q1", "rows and their order are those of DuckDB"),
    ("answer of q2", "rows and their order are those of DuckDB"),
    ("answer of q3", "rows and their order are those of DuckDB"),
    ("answer of q4", "rows and their order are those of DuckDB"),
    ("answer of q5", "rows and their order are those of DuckDB"),
    ("answer of q6", "rows and their order are those of DuckDB"),
    ("answer of q7", "rows and their order are those of DuckDB"),
    ("answer of q8", "rows and their order are those of DuckDB"),
    ("answer of q9", "rows and their order are those of DuckDB"),
    ("answer of q10", "rows and their order are those of DuckDB"),
    ("answer of q11", "rows and their order are those of DuckDB"),
    ("answer of q12", "rows and their order are those of DuckDB"),
    ("answer of q13", "rows and their order are those of DuckDB"),
    ("answer of q14", "rows and their order are those of DuckDB"),
    ("answer of q15", "rows and their order are those of DuckDB"),
    ("answer of q16", "rows and their order are those of DuckDB"),
    ("answer of q17", "rows and their order are those of DuckDB"),
    ("answer of q18", "rows and their order are those of DuckDB"),
    ("answer of q19", "rows and their order are those of DuckDB"),
    ("answer of q20", "rows and their order are those of DuckDB"),
    ("answer of q21", "rows and their order are those of DuckDB"),
    ("answer of q22", "rows and their order are those of DuckDB"),
];

/// An answer.
pub(super) struct Answer<'a> {
    /// Names and kinds of its columns: `integer`, `number`, `date` or `text`.
    pub(super) columns: Vec<(&'a str, &'a str)>,
    /// The rows, or the first ones, as lines.
    pub(super) rows: Vec<&'a str>,
    /// The number and the MD5 of all rows, if not all are here.
    all: Option<(&'a str, &'a str)>,
}

impl<'a> Answer<'a> {
    pub(super) fn read(section: &'a str) -> Self {
        let mut lines = section.lines();
        let columns = lines.next().unwrap_or_default().split('|').filter_map(|column| column.split_once(' ')).collect();
        let mut rows: Vec<_> = lines.collect();
        let all = rows.last().and_then(|last| last.strip_prefix("... ")?.split_once(' '));
        if all.is_some() {
            rows.pop();
        }
        Self { columns, rows, all }
    }

    /// Returns SQL for the fields of a found row as text, rounded as the answer is.
    fn fields(&self) -> Vec<String> {
        let field = |(name, kind): &(&str, &str)| match *kind {
            "number" => format!("coalesce(round(q.{name}::numeric, 2)::text, 'NULL')"),
            "date" => format!("coalesce(to_char(q.{name}, 'YYYY-MM-DD'), 'NULL')"),
            _ => format!("coalesce(q.{name}::text, 'NULL')"),
        };
        self.columns.iter().map(field).collect()
    }

    /// Returns SQL whose rows are the differences of the query's rows from the answer: row, column, expected, found.
    /// `order` is what the found rows are sorted by; the query's own order where it is empty.
    pub(super) fn differences(&self, query: &str, order: &str) -> String {
        let fields = self.fields().join(", ");
        let lines = self.rows.join("\n");
        let mut sql = format!(
            "with found as (\nselect row_number() over ({order}) as row, array[{fields}] as fields from (\n{query}\n) as q),\n\
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

/// Returns the sections of the answers at a scale factor by their names, if it has some.
pub(super) fn sections(scale: ScaleFactor) -> impl Iterator<Item = (&'static str, &'static str)> {
    let file = FILES.iter().find(|(thousandths, _)| *thousandths == scale.thousandths());
    let sections = file.into_iter().flat_map(|(_, text)| text.split("# "));
    sections.filter_map(|section| section.split_once('\n'))
}

/// Returns names and kinds of the columns of a query's answer, which are the same at all scale factors.
pub(super) fn columns(query: usize) -> &'static str {
    let section = sections(ScaleFactor::of_thousandths(FILES[0].0)).find(|(name, _)| *name == NAMES[query - 1]);
    section.and_then(|(_, section)| section.lines().next()).unwrap_or_default()
}

/// Returns the checks of the answers of the `wanted` queries, if there are answers at this scale factor.
pub(super) fn answers(scale: ScaleFactor, wanted: impl Fn(usize) -> bool) -> Vec<Check> {
    let check = |(nth, (name, condition)): (usize, &(&'static str, &'static str))| {
        let query = Some(nth + 1).filter(|query| wanted(*query))?;
        let (_, section) = sections(scale).find(|(section, _)| *section == NAMES[nth])?;
        let text = queries::text(query, &parameters::of_validation(query, scale));
        Some(Check {
            name,
            condition,
            sql: Answer::read(section).differences(&text, "").into(),
            parts: None,
            expect: Expect::Answer,
            cost: CheckCost::Expensive,
        })
    };
    CHECKS.iter().enumerate().filter_map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_has_an_answer_at_three_scale_factors() {
        for (thousandths, _) in FILES {
            let scale = ScaleFactor::of_thousandths(thousandths);
            assert_eq!(answers(scale, |_| true).len(), QUERIES, "{thousandths}");
            assert_eq!(sections(scale).filter(|(name, _)| *name == "tables").count(), 1);
            for (name, section) in sections(scale).filter(|(name, _)| *name != "tables") {
                let answer = Answer::read(section);
                let fits = |row: &&str| row.split('|').count() == answer.columns.len();
                assert!(answer.rows.iter().all(fits) && !answer.columns.is_empty(), "{name} at {thousandths}");
            }
        }
        assert!(answers(ScaleFactor::of_thousandths(20), |_| true).is_empty());
    }

    #[test]
    fn answers_are_the_standard_s() {
        let answer = |query: &str| Answer::read(sections(ScaleFactor::ONE).find(|(name, _)| *name == query).unwrap().1);
        assert_eq!(answer("q3").rows[0], "2456423|406181.01|1995-03-05|0");
        let keys = answer("q11").rows.iter().map(|row| row.split('|').next().unwrap().parse::<u64>().unwrap()).sum();
        assert_eq!((answer("q11").rows.len(), keys), (1_048, 103_582_679_u64));
        assert_eq!([answer("q17").rows[0], answer("q19").rows[0]], ["348406.05", "3083843.06"]);
        let all = answer("q16").all.map(|(rows, _)| rows);
        let rows = ["q9", "q13", "q18", "q20", "q21", "q22"].map(|query| answer(query).rows.len());
        assert_eq!((all, rows), (Some("18314"), [175, 42, 57, 186, 100, 7]));
    }
}
