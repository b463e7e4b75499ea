//! The texts of the 22 queries, with the marks `:1`, `:2` and so on for their parameters.

/// The texts, in the order of their numbers.
const TEXTS: [&str; 22] = [
    include_str!("queries/q01.sql"),
    include_str!("queries/q02.sql"),
    include_str!("queries/q03.sql"),
    include_str!("queries/q04.sql"),
    include_str!("queries/q05.sql"),
    include_str!("queries/q06.sql"),
    include_str!("queries/q07.sql"),
    include_str!("queries/q08.sql"),
    include_str!("queries/q09.sql"),
    include_str!("queries/q10.sql"),
    include_str!("queries/q11.sql"),
    include_str!("queries/q12.sql"),
    include_str!("queries/q13.sql"),
    include_str!("queries/q14.sql"),
    include_str!("queries/q15.sql"),
    include_str!("queries/q16.sql"),
    include_str!("queries/q17.sql"),
    include_str!("queries/q18.sql"),
    include_str!("queries/q19.sql"),
    include_str!("queries/q20.sql"),
    include_str!("queries/q21.sql"),
    include_str!("queries/q22.sql"),
];

/// The names of queries and refresh functions as transactions.
pub(super) const TASKS: [&str; 24] = [
    "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "q16", "q17",
    "q18", "q19", "q20", "q21", "q22", "rf1", "rf2",
];

/// Returns the text of query `query`, 1 to 22, without its first line, which explains it.
pub(super) fn template(query: usize) -> &'static str {
    let text = TEXTS[query - 1];
    text.split_once('\n').map_or(text, |(_, rest)| rest).trim_end()
}

/// Returns the text of query `query`, 1 to 22, with the values of its parameters.
pub(super) fn text(query: usize, values: &[String]) -> String {
    // From the last one: `:1` is the beginning of `:10`.
    let numbered = values.iter().enumerate().rev();
    numbered.fold(template(query).to_owned(), |text, (nth, value)| text.replace(&format!(":{}", nth + 1), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_set::QUERIES;
    use crate::tproc_h::parameters::of_validation;
    use crate::tproc_h::scale::ScaleFactor;

    #[test]
    fn every_mark_has_a_value_and_every_value_a_mark() {
        for query in 1..=QUERIES {
            let values = of_validation(query, ScaleFactor::ONE);
            for nth in 1..=values.len() {
                assert!(template(query).contains(&format!(":{nth}")), "query {query} without :{nth}");
            }
            let text = text(query, &values);
            assert!(!text.contains(':') && !text.contains("--") && !text.contains(';'), "{text}");
        }
    }

    #[test]
    fn the_tenth_parameter_is_not_the_first_with_a_zero() {
        let text = text(16, &of_validation(16, ScaleFactor::ONE));
        assert!(text.contains("p_brand <> 'Brand#45'") && text.contains("in (49, 14, 23, 45, 19, 3, 36, 9)"), "{text}");
    }
}
