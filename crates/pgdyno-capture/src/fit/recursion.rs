//! Numbers that `WITH RECURSIVE` counts with: where it begins, by how much it goes on, and where it ends.

use super::wording::number;
use crate::tokens::{Token, significant};

/// The parameters with which a statement counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counting {
    /// Those at which it begins, and those that it adds.
    pub(super) ones: Vec<u32>,
    /// Those that what it has counted is less than.
    pub(super) ends: Vec<u32>,
}

/// Returns the parameters with which a text counts; none unless it is recursive.
pub(super) fn counting(text: &str) -> Counting {
    let all = significant(text);
    let mut found = Counting::default();
    if !matches!(all[..], [with, recursive, ..] if with.is("with") && recursive.is("recursive")) {
        return found;
    }
    // What comes before the first UNION is executed once.
    let union = all.iter().position(|token| token.is("union")).unwrap_or(all.len());
    for (at, parameter) in all.iter().enumerate().filter_map(|(at, token)| Some((at, number(*token)?))) {
        let (Some(before), Some(last)) = (at.checked_sub(2), at.checked_sub(1)) else { continue };
        match (&all[before], &all[last]) {
            (_, Token::Other("+")) => found.ones.push(parameter),
            (_, Token::Other("<")) | (Token::Other("<"), Token::Other("=")) => found.ends.push(parameter),
            (_, before) if at < union && (before.is("select") || *before == Token::Other(",")) => {
                let is_whole = |after: &&Token<'_>| {
                    matches!(after, Token::Other("," | ":"))
                        || ["as", "from", "union"].iter().any(|word| after.is(word))
                };
                if all.get(at + 1).filter(is_whole).is_some() {
                    found.ones.push(parameter);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recursive_statement_counts_from_a_number_in_steps_to_another() {
        let of = |text: &str| {
            let Counting { ones, ends } = counting(text);
            (ones, ends)
        };
        let numbers =
            "with recursive c(n) as (select $1::int union all select n + $2 from c where n <= $3) select n from c";
        assert_eq!(of(numbers), (vec![1, 2], vec![3]));
        let tree = "WITH RECURSIVE s AS (SELECT id, $2 AS depth FROM t WHERE parent = $1 UNION ALL \
                    SELECT t.id, depth + $3 FROM t JOIN s ON t.parent = s.id WHERE depth < $4) SELECT id FROM s";
        assert_eq!(of(tree), (vec![2, 3], vec![4]));
        assert_eq!(of("with c as (select $1) select * from c where n < $2"), (vec![], vec![]));
        for cut in ["", "with", "with recursive", "with recursive $1", "with recursive a as (select $1"] {
            assert_eq!(of(cut), (vec![], vec![]), "{cut}");
        }
    }
}
