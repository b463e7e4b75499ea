//! Which statements of two servers are the same: the text that one was captured with, and the text that another one counts or logs.

use crate::tokens::{SQUASHED, Token, tokens};

/// Words before which no operand ends: a minus after them is the sign of a number.
const BEFORE_SIGNS: [&str; 14] = [
    "select",
    "limit",
    "offset",
    "between",
    "and",
    "or",
    "when",
    "then",
    "else",
    "not",
    "like",
    "in",
    "values",
    "returning",
];

/// A text without its constants, as `pg_stat_statements` makes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Its tokens in lower case, with `$` for each constant and parameter.
    pub(crate) key: String,
    /// These constants and parameters, in their order.
    pub(crate) places: Vec<Place>,
}

/// A constant or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A parameter, by its number.
    Parameter(u32),
    /// A constant, with its value.
    Constant(String),
}

/// Returns a text that is equal for equal statements: without white space, comments, a final semicolon, constants, the numbers of
/// parameters, and the lengths of their lists, which PostgreSQL 18 does not keep. A variable of a script (`:name`) is a parameter. A
/// statement that was counted first within a PREPARE is that statement.
#[must_use]
pub fn statement_key(text: &str) -> String {
    let all = tokens(text);
    Shape::of(&with_parameters(within_prepare(&all)), true).key
}

/// Returns the same text with all elements of its lists; `None` where the server has not kept them.
#[must_use]
pub fn whole_statement_key(text: &str) -> Option<String> {
    let all = tokens(text);
    let all = with_parameters(within_prepare(&all));
    (!all.contains(&Token::Comment(SQUASHED))).then(|| Shape::of(&all, false).key)
}

/// Returns the tokens with a parameter in place of each variable of a script.
fn with_parameters<'a>(all: &[Token<'a>]) -> Vec<Token<'a>> {
    let colon = Token::Other(":");
    let is_colon = |at: usize| all.get(at) == Some(&colon) && (at == 0 || all[at - 1] != colon);
    let is_variable = |at: usize| is_colon(at) && matches!(all.get(at + 1), Some(Token::Word(_)));
    let with = |at: usize| match all[at] {
        _ if is_variable(at) => Some(Token::Parameter("$0")),
        Token::Word(_) if at > 0 && is_variable(at - 1) => None,
        token => Some(token),
    };
    (0..all.len()).filter_map(with).collect()
}

/// Returns what follows `PREPARE name (types) AS`, or all tokens of another statement.
fn within_prepare<'a, 'b>(all: &'b [Token<'a>]) -> &'b [Token<'a>] {
    let mut words = all.iter().filter(|token| !token.is_blank());
    let is_prepare = words.next().is_some_and(|token| token.is("prepare"));
    let start = all.iter().position(|token| token.is("as")).filter(|_| is_prepare);
    start.map_or(all, |at| &all[at + 1..])
}

impl Shape {
    /// Returns the shape of the tokens of a text. With `squash`, lists of constants count as their first.
    pub(crate) fn of(all: &[Token<'_>], squash: bool) -> Self {
        let (mut keys, mut places): (Vec<String>, Vec<Place>) = (Vec::new(), Vec::new());
        for token in all.iter().filter(|token| !token.is_blank()) {
            let place = match token {
                Token::Parameter(text) => Some(Place::Parameter(text[1..].parse().unwrap_or_default())),
                Token::Text(text) => Some(Place::Constant(unquoted(text))),
                Token::Number(text) => Some(Place::Constant((*text).to_owned())),
                word if ["null", "true", "false"].iter().any(|name| word.is(name)) => {
                    Some(Place::Constant(word.text().to_ascii_lowercase()))
                }
                _ => None,
            };
            let Some(mut place) = place else {
                keys.push(match token {
                    Token::Word(word) => word.to_lowercase(),
                    other => other.text().to_owned(),
                });
                continue;
            };
            if has_sign(&keys) {
                keys.pop();
                if let Place::Constant(number) = &mut place {
                    number.insert(0, '-');
                }
            }
            if squash && keys.ends_with(&["$".to_owned(), ",".to_owned()]) {
                keys.pop();
                continue;
            }
            keys.push("$".to_owned());
            places.push(place);
        }
        while keys.last().is_some_and(|last| last == ";") {
            keys.pop();
        }
        Self { key: keys.join(" "), places }
    }
}

/// Returns true if the last of these tokens is the sign of the number that follows.
fn has_sign(keys: &[String]) -> bool {
    let [.., before, last] = keys else { return false };
    let is_operand = |key: &str| match key.chars().next() {
        Some('$' | ')' | ']' | '"') => true,
        Some(c) => (c.is_alphanumeric() || c == '_') && !BEFORE_SIGNS.contains(&key),
        None => false,
    };
    last == "-" && !is_operand(before)
}

/// Returns the text of a string constant.
fn unquoted(constant: &str) -> String {
    let inner = constant.find('\'').map_or(constant, |at| &constant[at + 1..]);
    inner.strip_suffix('\'').unwrap_or(inner).replace("''", "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_one_statement_have_one_key() {
        let key = statement_key("select * from t where a = $1 and b in ($2, $3) -- here\n;");
        for same in [
            "select * from t\n where a = $3 and b in ($1 /*, ... */)",
            "PREPARE pgdyno_fit (int, text[]) AS select * from t where a = $1 and b in ($2)",
            "select * from t where a=$1 and b in($7,$8,$9)",
            "select * from t where a = 'x' and b in (1, 2.5)",
        ] {
            assert_eq!(statement_key(same), key, "{same}");
        }
        let script = "select a[:p1 : :p2], b::text from t where c = :p3;";
        assert_eq!(statement_key(script), statement_key("select a[$1:$2], b::text from t where c = $2"));
        for other in ["select * from t where a = $1 and c in ($2, $3)", "select * from t where a = $1"] {
            assert_ne!(statement_key(other), key, "{other}");
        }
        assert_eq!(statement_key("select array[$1,$2]"), statement_key("SELECT ARRAY[$1]"));
        let whole = |text| whole_statement_key(text);
        assert_eq!(whole("select * from t where a in (:p1, :p2);"), whole("SELECT * FROM t WHERE a IN ($3, 5)"));
        assert_ne!(whole("select * from t where a in ($1, $2)"), whole("select * from t where a in ($1)"));
        assert_eq!(whole("select * from t where a in ($1 /*, ... */)"), None);
        assert_eq!(statement_key("select a - 1, -5, true"), statement_key("select a - $1, $2, $3"));
        assert_ne!(statement_key("select a b from t"), statement_key("select ab from t"));
        assert_eq!(statement_key(";"), "");
        assert_eq!(statement_key("prepare x"), "prepare x");
    }
}
