//! The text that is prepared: what `pg_stat_statements` has made of a statement, as a statement again.

use crate::tokens::{SQUASHED, Token, significant, tokens};

/// Types whose name may precede a constant: `date '2026-01-01'` becomes `date $1`, which is no statement.
const TYPES_BEFORE_CONSTANTS: [&str; 6] = ["date", "time", "timestamp", "timestamptz", "timetz", "interval"];

/// Returns the statement with `elements` in each list whose length the server has not kept, and with casts in place of types before
/// constants. Parameters of further elements get the numbers after the last.
pub(super) fn statement(text: &str, elements: u32) -> String {
    let all = tokens(text);
    let mut last = parameters(text);
    let (mut out, mut at) = (String::new(), 0);
    while at < all.len() {
        if let Some((cast, taken)) = cast(&all[at..]) {
            out += &cast;
            at += taken;
            continue;
        }
        match all[at] {
            Token::Comment(SQUASHED) => {
                out.truncate(out.trim_end().len());
                for _ in 1..elements {
                    last += 1;
                    out += &format!(", ${last}");
                }
            }
            token => out += token.text(),
        }
        at += 1;
    }
    out
}

/// Returns `$1::date` for the `date $1` that tokens begin with, and the number of these.
fn cast(tokens: &[Token<'_>]) -> Option<(String, usize)> {
    let words: Vec<_> =
        tokens.iter().take(9).enumerate().filter(|(_, token)| !matches!(token, Token::Space(_))).collect();
    let parameter = |nth: usize| match words.get(nth)? {
        (at, Token::Parameter(parameter)) => Some((*parameter, at + 1)),
        _ => None,
    };
    let Token::Word(name) = tokens.first()? else { return None };
    if let Some((parameter, taken)) = parameter(1).filter(|_| is_type(name)) {
        return Some((format!("{parameter}::{name}"), taken));
    }
    let is = |nth: usize, keyword: &str| words.get(nth).is_some_and(|(_, token)| token.is(keyword));
    let zone = ["with", "without"].into_iter().find(|with| is(1, with) && is(2, "time") && is(3, "zone"))?;
    let (parameter, taken) = parameter(4).filter(|_| is(0, "timestamp") || is(0, "time"))?;
    Some((format!("{parameter}::{name} {zone} time zone"), taken))
}

fn is_type(name: &str) -> bool {
    TYPES_BEFORE_CONSTANTS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the number of a parameter.
pub(super) fn number(token: Token<'_>) -> Option<u32> {
    match token {
        Token::Parameter(text) => text[1..].parse().ok(),
        _ => None,
    }
}

/// Returns how often the statement has a parameter.
pub(super) fn occurrences(text: &str, parameter: u32) -> usize {
    tokens(text).into_iter().filter(|token| number(*token) == Some(parameter)).count()
}

/// Returns the statement with a text in place of each parameter.
pub(super) fn replaced(text: &str, mut with: impl FnMut(u32) -> String) -> String {
    let piece = |token: Token<'_>| number(token).map_or_else(|| token.text().to_owned(), &mut with);
    tokens(text).into_iter().map(piece).collect()
}

/// Returns the statement with a text in place of each parameter, apart from the colons of array slices: `[:p1 : :p2]`.
pub(super) fn with_variables(text: &str, mut with: impl FnMut(u32) -> String) -> String {
    let all = tokens(text);
    let is_colon = |token: Option<&Token<'_>>| token == Some(&Token::Other(":"));
    let mut out = String::new();
    for (at, token) in all.iter().enumerate() {
        let Some(number) = number(*token) else {
            out += token.text();
            continue;
        };
        if at > 0 && is_colon(all.get(at - 1)) {
            out.push(' ');
        }
        out += &with(number);
        if is_colon(all.get(at + 1)) && !is_colon(all.get(at + 2)) {
            out.push(' ');
        }
    }
    out
}

/// Returns the number of parameters of a statement: the highest of their numbers.
pub(super) fn parameters(text: &str) -> u32 {
    tokens(text).into_iter().filter_map(number).max().unwrap_or_default()
}

/// Bytes of a text: a capture keeps no longer ones than half of it.
const TEXT_MAX: usize = 128 << 10;

/// Returns why a text cannot be a script: the language of scripts would see more in it than one statement. It may come from anyone.
pub(super) fn is_unsafe(text: &str) -> Option<&'static str> {
    if text.len() > TEXT_MAX {
        return Some("its text is longer than 128 KiB");
    }
    tokens(text).into_iter().find_map(|token| match token {
        Token::Other(";") => Some("it is more than one statement"),
        Token::Other("\\") => Some("it has a backslash, which begins commands in scripts"),
        token if token.text().contains('\0') => Some("it has a zero byte"),
        _ => None,
    })
}

/// Returns true if it locks the rows that it reads.
pub(super) fn locks_rows(text: &str) -> bool {
    let all = significant(text);
    let is_lock = |token: Token<'_>| ["update", "share", "no", "key"].iter().any(|word| token.is(word));
    all.windows(2).any(|pair| pair[0].is("for") && is_lock(pair[1]))
}

/// Returns true if the text has a list whose length is unknown.
pub(super) fn has_squashed(text: &str) -> bool {
    tokens(text).into_iter().any(|token| token == Token::Comment(SQUASHED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_before_constants_become_casts() {
        for (text, wanted) in [
            (
                "select date $1, a->>$2 from t where b > interval $3",
                "select $1::date, a->>$2 from t where b > $3::interval",
            ),
            (
                "select * from t where at > timestamp with time zone $1",
                "select * from t where at > $1::timestamp with time zone",
            ),
            ("select date from t where date = $1", "select date from t where date = $1"),
            ("select timestamp from t", "select timestamp from t"),
            ("where a between timestamptz $1 and date $2", "where a between $1::timestamptz and $2::date"),
        ] {
            assert_eq!(statement(text, 1), wanted);
        }
    }

    #[test]
    fn a_text_of_a_stranger_is_one_statement() {
        for text in ["select 1; drop table t", "select 1 \\shell rm -rf x", "select 'a\0b'"] {
            assert!(is_unsafe(text).is_some(), "{text}");
        }
        assert!(is_unsafe(&"a".repeat(TEXT_MAX + 1)).is_some());
        for text in ["select ';' || $$\\shell;$$ || E'\\n'", "select \";\" from t"] {
            assert_eq!(is_unsafe(text), None, "{text}");
        }
        assert!(
            locks_rows("select * from t FOR UPDATE skip locked") && locks_rows("select 1 from t for no key update")
        );
        assert!(!locks_rows("select substring(a for 3) from t"));
    }

    #[test]
    fn lists_get_elements() {
        let text = "select * from t where a in ($1 /*, ... */) and b = $2";
        assert!(has_squashed(text) && !has_squashed("select 1"));
        assert_eq!(statement(text, 3), "select * from t where a in ($1, $3, $4) and b = $2");
        assert_eq!(statement(text, 1), "select * from t where a in ($1) and b = $2");
        assert_eq!((parameters(text), parameters("select 1")), (2, 0));
        assert_eq!(replaced("a = $2 or b = '$1' or c = $10", |n| format!(":p{n}")), "a = :p2 or b = '$1' or c = :p10");
    }
}
