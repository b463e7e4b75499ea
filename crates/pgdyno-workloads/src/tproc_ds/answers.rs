//! The answers of the questions with the parameters of their validation, and the digests of the tables.
//!
//! `answers/make.py` makes the answers: rows of PostgreSQL that DuckDB agreed with, over the same rows of tpcdsgen.

use std::sync::Arc;

use pgdyno_workload::{Check, CheckSql};

use super::questions::Question;
use super::rows::{Rows, TABLES};
use super::scale::ScaleFactor;
use super::tables;
use crate::query_set::ALL_NAMES;
use crate::query_set::answers::{self, Answer};
use crate::query_set::digests::{self, TableDigest, differences, known, of_table};

/// The answers at scale factor 1.
const FILE: &str = include_str!("answers/sf1.txt");
/// The only scale factor with answers, in thousandths.
const ANSWERED: u64 = 1_000;

/// Digests of the tables by scale factor in thousandths: name, rows, sum.
const DIGESTS: [(u64, &str); 2] =
    [(10, include_str!("answers/tables-sf0.01.txt")), (1_000, include_str!("answers/tables-sf1.txt"))];

/// What holds for an answer.
const CONDITION: &str = "the rows, in any order, are those that DuckDB agreed with";

/// Returns the checks of the answers of these questions, if there are answers at this scale factor.
pub(super) fn answers<'a>(scale: ScaleFactor, wanted: impl Iterator<Item = &'a Question>) -> Vec<Check> {
    let check = |question: &Question| {
        let (_, section) = answers::sections(FILE).find(|(name, _)| *name == ALL_NAMES[question.number - 1])?;
        let answer = Answer::read(section);
        let text = question.texts(None).swap_remove(0);
        Some(answers::check(question.number, CONDITION, answer.differences(&text, &order(&answer))))
    };
    wanted.filter(|_| scale.thousandths() == ANSWERED).filter_map(check).collect()
}

/// Returns what the rows are sorted by: all of their fields as text. Some questions leave the order of rows open.
fn order(answer: &Answer<'_>) -> String {
    let fields = answer.fields().into_iter().map(|field| format!("{field} collate \"C\""));
    format!("order by {}", fields.collect::<Vec<_>>().join(", "))
}

/// Returns the check of the rows of all tables.
pub(super) fn digests(scale: ScaleFactor) -> Check {
    let sql = match loaded(scale) {
        Some(loaded) => CheckSql::Text(differences(&loaded, tables::columns)),
        None => {
            CheckSql::Made(Arc::new(move |stop| of_rows(scale, stop).map(|made| differences(&made, tables::columns))))
        }
    };
    digests::check("the rows of each table are those of dsdgen, by the sum of a hash of each", sql)
}

/// Returns rows and digest of each table, if they are known without its rows.
fn loaded(scale: ScaleFactor) -> Option<Vec<TableDigest>> {
    known(DIGESTS.iter().find(|(thousandths, _)| *thousandths == scale.thousandths())?.1)
}

/// Makes all rows, in parallel, and returns their digests; `None` if `stop` returned true.
fn of_rows(scale: ScaleFactor, stop: &(dyn Fn() -> bool + Sync)) -> Option<Vec<TableDigest>> {
    TABLES.iter().map(|(name, table)| of_table(name, &Rows::of(*table, name, scale), stop)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::questions::{NAMES, shipped};
    use super::*;

    #[test]
    fn digests_of_the_rows_are_those_that_another_program_made() {
        let scale = ScaleFactor::of_thousandths(10);
        assert_eq!(of_rows(scale, &|| false), loaded(scale));
        assert_eq!(of_rows(scale, &|| true), None);
        assert_eq!(loaded(ScaleFactor::of_thousandths(20)), None);
        for (thousandths, _) in DIGESTS {
            let scale = ScaleFactor::of_thousandths(thousandths);
            for digest in loaded(scale).unwrap() {
                let (_, table) = TABLES.into_iter().find(|(name, _)| *name == digest.table).unwrap();
                assert!(
                    scale.rows(table).admits(digest.rows),
                    "{}: {} of {}",
                    digest.table,
                    digest.rows,
                    scale.rows(table)
                );
            }
        }
    }

    #[test]
    #[ignore = "makes 19 million rows: .ci/nightly"]
    fn digests_at_scale_factor_1_are_those_that_another_program_made() {
        let scale = ScaleFactor::of_thousandths(1_000);
        assert_eq!(of_rows(scale, &|| false), loaded(scale));
    }

    #[test]
    fn answers_fit_their_columns_and_belong_to_shipped_questions() {
        for (name, section) in answers::sections(FILE) {
            let answer = Answer::read(section);
            let fits = |row: &&str| row.split('|').count() == answer.columns.len();
            assert!(answer.rows.iter().all(fits) && !answer.columns.is_empty(), "{name}");
        }
        let questions = shipped();
        let sections = answers::sections(FILE).filter(|(name, _)| NAMES.contains(name));
        let checks = answers(ScaleFactor::of_thousandths(1_000), questions.iter());
        assert_eq!(checks.len(), sections.count());
        assert!(answers(ScaleFactor::of_thousandths(10), questions.iter()).is_empty());
    }
}
