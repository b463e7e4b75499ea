//! Arrays that a statement makes rows of, `FROM unnest($1, $2) AS t (a, b)`: the columns that their elements are compared with.

use super::wording::number;
use crate::tokens::{Token, significant};

/// An array that is unnested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unnested {
    /// The number of the parameter.
    pub(super) parameter: u32,
    /// The name of its elements as a column of the rows.
    pub(super) name: Option<String>,
    /// Names that columns of its elements may have: those that they are compared with or assigned to, and their own.
    pub(super) names: Vec<String>,
}

/// A call of `unnest` with its arrays: the rows are as many as the longest has elements.
pub(super) type Call = Vec<Unnested>;

/// Words that may follow a call without an alias.
const NO_ALIAS: [&str; 17] = [
    "where",
    "join",
    "on",
    "group",
    "order",
    "limit",
    "left",
    "right",
    "inner",
    "cross",
    "full",
    "returning",
    "union",
    "offset",
    "for",
    "from",
    "having",
];

/// Returns the calls of `unnest` whose arguments are parameters.
pub(super) fn calls(text: &str) -> Vec<Call> {
    let all = significant(text);
    let compared = compared(&all);
    let of = |(at, token): (usize, &Token<'_>)| {
        let (arguments, end) = if token.is("unnest") { arguments(&all, at + 1)? } else { return None };
        let own = names(&all[end..], arguments.len());
        let unnested = |(place, argument): (usize, &&[Token<'_>])| {
            let parameter = whole_parameter(argument)?;
            let name = own.get(place).cloned();
            let other = |(a, b): &(String, String)| match name.as_ref()? {
                name if name == a => Some(b.clone()),
                name if name == b => Some(a.clone()),
                _ => None,
            };
            let names = compared.iter().filter_map(other).chain(name.clone()).chain(in_select(&all, at));
            Some(Unnested { parameter, names: names.collect(), name })
        };
        let call: Call = arguments.iter().enumerate().filter_map(unnested).collect();
        (!call.is_empty()).then_some(call)
    };
    all.iter().enumerate().filter_map(of).collect()
}

/// Returns the parameters of `generate_series($1, $2)`: the first and the last number.
pub(super) fn series(text: &str) -> Vec<(u32, u32)> {
    let all = significant(text);
    let of = |(at, token): (usize, &Token<'_>)| {
        let (arguments, _) = if token.is("generate_series") { arguments(&all, at + 1)? } else { return None };
        match arguments[..] {
            [first, last] => Some((whole_parameter(first)?, whole_parameter(last)?)),
            _ => None,
        }
    };
    all.iter().enumerate().filter_map(of).collect()
}

/// Returns the arguments of a call whose parenthesis is at `open`, and where it has ended.
pub(super) fn arguments<'a, 't>(all: &'a [Token<'t>], open: usize) -> Option<(Vec<&'a [Token<'t>]>, usize)> {
    if all.get(open) != Some(&Token::Other("(")) {
        return None;
    }
    let within = &all[open + 1..];
    let mut depth = 1;
    let close = within.iter().position(|token| {
        depth += nesting(token);
        depth == 0
    })?;
    Some((items(&within[..close]), open + close + 2))
}

/// Returns what commas separate that are not within parentheses.
pub(super) fn items<'a, 't>(all: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let mut depth = 0;
    all.split(|token| {
        depth += nesting(token);
        depth == 0 && *token == Token::Other(",")
    })
    .collect()
}

/// Returns by how much a token changes the depth of parentheses.
pub(super) fn nesting(token: &Token<'_>) -> i32 {
    match token {
        Token::Other("(" | "[") => 1,
        Token::Other(")" | "]") => -1,
        _ => 0,
    }
}

/// Returns the number of a parameter that is a whole value, with a cast or without: `$1::bigint[]`.
pub(super) fn whole_parameter(tokens: &[Token<'_>]) -> Option<u32> {
    let colon = Token::Other(":");
    let is_whole = tokens.len() == 1 || (tokens.get(1) == Some(&colon) && tokens.get(2) == Some(&colon));
    number(*tokens.first()?).filter(|_| is_whole)
}

/// Returns the names of the columns of a call with so many arguments: what follows it. One column has the name of the alias.
fn names(after: &[Token<'_>], arguments: usize) -> Vec<String> {
    let mut at = if after.len() > 1 && after[0].is("with") && after[1].is("ordinality") { 2 } else { 0 };
    at += usize::from(after.get(at).is_some_and(|token| token.is("as")));
    let Some(alias) = after.get(at).and_then(|token| token.name()) else { return Vec::new() };
    if NO_ALIAS.iter().any(|word| after[at].is(word)) {
        return Vec::new();
    }
    match self::arguments(after, at + 1) {
        Some((columns, _)) => columns.iter().map_while(|column| column.first()?.name()).collect(),
        None if arguments == 1 => vec![alias],
        None => Vec::new(),
    }
}

/// Returns the pairs of names that are compared or assigned, without their tables: `a = t.b`.
fn compared(all: &[Token<'_>]) -> Vec<(String, String)> {
    let of = |(at, token): (usize, &Token<'_>)| {
        let before = all.get(at.checked_sub(1)?)?.name().filter(|_| *token == Token::Other("="))?;
        let is_qualified = all.get(at + 2) == Some(&Token::Other("."));
        let after = all.get(at + 1 + if is_qualified { 2 } else { 0 })?.name()?;
        Some((before, after))
    };
    all.iter().enumerate().filter_map(of).collect()
}

/// Returns the name before `IN (SELECT unnest(…))` and `= ANY (SELECT unnest(…))`.
fn in_select(all: &[Token<'_>], unnest: usize) -> Option<String> {
    let before = &all[..unnest];
    match before {
        [.., name, word, Token::Other("("), select] if word.is("in") && select.is("select") => name.name(),
        [.., name, Token::Other("="), word, Token::Other("("), select] if word.is("any") && select.is("select") => {
            name.name()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(call: &Call) -> Vec<(u32, Vec<&str>)> {
        call.iter().map(|one| (one.parameter, one.names.iter().map(String::as_str).collect())).collect()
    }

    #[test]
    fn elements_belong_to_the_columns_that_they_are_compared_with() {
        let text = "with p as (select a, b from unnest($2::int[], $3) with ordinality as p (a, b, n)) \
                    update orders set carrier = $4 from p where o_w = $1 and o_a = p.a and orders.b = p.b";
        assert_eq!(
            calls(text).iter().map(names).collect::<Vec<_>>(),
            [vec![(2, vec!["o_a", "a"]), (3, vec!["b", "b"])]]
        );
        let text = "select * from t where id in (select unnest($1)) and k = any (select unnest($2))";
        assert_eq!(calls(text).iter().map(names).collect::<Vec<_>>(), [vec![(1, vec!["id"])], vec![(2, vec!["k"])]]);
        let text = "select * from t join unnest($1) u on t.id = u where unnest(array[1]) = 1";
        assert_eq!(calls(text).iter().map(names).collect::<Vec<_>>(), [vec![(1, vec!["id", "u"])]]);
        assert_eq!(
            calls("select * from unnest($1) where a = 1"),
            [[Unnested { parameter: 1, name: None, names: Vec::new() }]]
        );
    }

    #[test]
    fn a_series_has_a_first_and_a_last_number() {
        assert_eq!(series("select * from generate_series($1, $2) n, generate_series($3, a.b) m"), [(1, 2)]);
    }
}
