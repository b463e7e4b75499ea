//! Which statements of two servers are the same: the text that one was captured with, and the text that the other counts.

use crate::tokens::{Token, tokens};

/// Returns a text that is equal for equal statements: without white space, comments, a final semicolon, constants, the numbers of
/// parameters, and the lengths of their lists, which PostgreSQL 18 does not keep. A variable of a script (`:name`) is a parameter. A statement that was counted first within a PREPARE is that statement.
#[must_use]
pub fn statement_key(text: &str) -> String {
    let all = tokens(text);
    let statement = within_prepare(&all);
    let mut key: Vec<&str> = Vec::new();
    // Whether each open bracket is that of a list.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    while let Some(token) = statement.get(at) {
        let is_cast = at > 0 && statement[at - 1] == Token::Other(":");
        let is_variable =
            *token == Token::Other(":") && !is_cast && matches!(statement.get(at + 1), Some(Token::Word(_)));
        at += if is_variable { 2 } else { 1 };
        let text = match token {
            Token::Space(_) | Token::Comment(_) => continue,
            Token::Parameter(_) | Token::Number(_) | Token::Text(_) => "$",
            _ if is_variable => "$",
            token => token.text(),
        };
        match text {
            "(" | "[" => open.push(key.last().is_some_and(|word| is_list(word))),
            ")" | "]" => drop(open.pop()),
            _ => {}
        }
        if text == "$" && open.last() == Some(&true) && matches!(key[..], [.., "$", ","]) {
            key.pop();
            continue;
        }
        key.push(text);
    }
    while key.last() == Some(&";") {
        key.pop();
    }
    // Words stay apart.
    key.join(" ")
}

/// Returns true if a list of values follows this word.
fn is_list(word: &str) -> bool {
    word.eq_ignore_ascii_case("in") || word.eq_ignore_ascii_case("array")
}

/// Returns what follows `PREPARE name (types) AS`, or all tokens of another statement.
fn within_prepare<'a, 'b>(all: &'b [Token<'a>]) -> &'b [Token<'a>] {
    let mut words = all.iter().filter(|token| !matches!(token, Token::Space(_) | Token::Comment(_)));
    let is_prepare = words.next().is_some_and(|token| token.is("prepare"));
    let start = all.iter().position(|token| token.is("as")).filter(|_| is_prepare);
    start.map_or(all, |at| &all[at + 1..])
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
        for other in [
            "select * from t where a = $1 and c in ($2, $3)",
            "select * from t where a = $1",
            "select * from T where a = $1 and b in ($2, $3)",
        ] {
            assert_ne!(statement_key(other), key, "{other}");
        }
        assert_eq!(statement_key("select array[$1,$2]"), statement_key("select ARRAY[$1]").replace("ARRAY", "array"));
        assert_ne!(statement_key("select f($1, $2)"), statement_key("select f($1)"));
        assert_ne!(statement_key("select a b from t"), statement_key("select ab from t"));
        assert_eq!(statement_key(";"), "");
        assert_eq!(statement_key("prepare x"), "prepare x");
    }
}
