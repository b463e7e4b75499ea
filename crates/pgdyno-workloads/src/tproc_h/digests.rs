//! Digests of the tables: those of tpchgen's rows, made in process, compared with those that the server makes of its own.

use std::sync::Arc;

use pgdyno_workload::{Check, CheckSql};

use super::current::{CurrentRows, TABLES};
use super::scale::ScaleFactor;
use super::{answers, schema};
use crate::query_set::digests::{self, TableDigest, differences, known, of_table};

/// Returns the check of the rows of all tables after so many pairs of refresh functions.
pub(super) fn check(scale: ScaleFactor, pairs: u32) -> Check {
    let known = loaded(scale).filter(|_| pairs == 0);
    let sql = match known {
        Some(known) => CheckSql::Text(differences(&known, schema::columns)),
        None => CheckSql::Made(Arc::new(move |stop| {
            of_rows(scale, pairs, stop).map(|digests| differences(&digests, schema::columns))
        })),
    };
    digests::check("the rows of each table are those of dbgen, by the sum of a hash of each", sql)
}

/// Returns rows and digest of each table as it was loaded, if they are known without its rows.
fn loaded(scale: ScaleFactor) -> Option<Vec<TableDigest>> {
    known(answers::sections(scale).find(|(section, _)| *section == "tables")?.1)
}

/// Makes all rows after so many pairs, in parallel, and returns their digests; `None` if `stop` returned true.
fn of_rows(scale: ScaleFactor, pairs: u32, stop: &(dyn Fn() -> bool + Sync)) -> Option<Vec<TableDigest>> {
    TABLES.iter().map(|(table, of)| of_table(table, &CurrentRows::of(*of, scale, pairs), stop)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_the_rows_are_those_that_another_program_made() {
        let scale = ScaleFactor::of_thousandths(10);
        assert_eq!(of_rows(scale, 0, &|| false), loaded(scale));
        assert_eq!(of_rows(scale, 0, &|| true), None);
        assert_eq!(loaded(ScaleFactor::of_thousandths(20)), None);
    }

    #[test]
    fn a_pair_changes_orders_and_lines_and_keeps_the_number_of_orders() {
        let scale = ScaleFactor::of_thousandths(2);
        let [before, after] = [0, 2].map(|pairs| of_rows(scale, pairs, &|| false).unwrap());
        assert_eq!(before[..6], after[..6]);
        assert!(before[6].rows == after[6].rows && before[6].sum != after[6].sum, "{before:?} {after:?}");
        assert_ne!(before[7], after[7]);
    }
}
