//! The answers of the queries with the standard's parameters as checks.
//!
//! `answers/make.py` makes them by another program, DuckDB, over the rows of tpchgen. The standard's own answers differ
//! in two places: in query 11 the keys are cut to four digits, and query 17 is 348406.02 where exact arithmetic gives
//! 348406.05.

use pgdyno_workload::Check;

use super::parameters;
use super::queries;
use super::scale::ScaleFactor;
use crate::query_set::answers::{self, Answer, CONDITION};
use crate::query_set::{NAMES, QUERIES};

/// The answers by scale factor in thousandths.
const FILES: [(u64, &str); 3] = [
    (10, include_str!("answers/sf0.01.txt")),
    (100, include_str!("answers/sf0.1.txt")),
    (1000, include_str!("answers/sf1.txt")),
];

/// Returns the sections of the answers at a scale factor by their names, if it has some.
pub(super) fn sections(scale: ScaleFactor) -> impl Iterator<Item = (&'static str, &'static str)> {
    let file = FILES.iter().find(|(thousandths, _)| *thousandths == scale.thousandths());
    file.into_iter().flat_map(|(_, text)| answers::sections(text))
}

/// Returns names and kinds of the columns of a query's answer, which are the same at all scale factors.
pub(super) fn columns(query: usize) -> &'static str {
    let section = sections(ScaleFactor::of_thousandths(FILES[0].0)).find(|(name, _)| *name == NAMES[query - 1]);
    section.and_then(|(_, section)| section.lines().next()).unwrap_or_default()
}

/// Returns the checks of the answers of the `wanted` queries, if there are answers at this scale factor.
pub(super) fn answers(scale: ScaleFactor, wanted: impl Fn(usize) -> bool) -> Vec<Check> {
    let check = |query: usize| {
        let (_, section) = sections(scale).find(|(section, _)| *section == NAMES[query - 1])?;
        let text = queries::text(query, &parameters::of_validation(query, scale));
        Some(answers::check(query, CONDITION, Answer::read(section).differences(&text, "")))
    };
    (1..=QUERIES).filter(|query| wanted(*query)).filter_map(check).collect()
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
