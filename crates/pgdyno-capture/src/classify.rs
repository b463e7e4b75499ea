//! What a statement does, and whether it can be part of a benchmark.

use crate::form::StatementKind;
use crate::tokens::{Token, tokens};

/// Words of a utility statement that are kept: none of them is a value of the user's.
const UTILITY_WORDS: usize = 2;

/// What the text of a statement says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Classified {
    /// The text that a capture keeps.
    pub(crate) text: String,
    pub(crate) kind: StatementKind,
    /// Why it cannot be part of a benchmark.
    pub(crate) refused: Option<String>,
}

/// Functions whose effects reach beyond the statement, by the beginning of their names, and what they do.
const EFFECTS: [(&str, &str); 13] = [
    ("pg_advisory_", "locks what the application has agreed on"),
    ("pg_try_advisory_", "locks what the application has agreed on"),
    ("dblink", "executes statements elsewhere"),
    ("lo_", "works on large objects"),
    ("pg_notify", "wakes other sessions"),
    ("pg_sleep", "waits"),
    ("pg_terminate_backend", "ends other sessions"),
    ("pg_cancel_backend", "ends statements of other sessions"),
    ("set_config", "changes settings"),
    ("setval", "changes a sequence for all sessions"),
    ("pg_switch_wal", "changes the server"),
    ("pg_reload_conf", "changes the server"),
    ("pg_stat_reset", "resets counters"),
];

/// Returns what a capture keeps of a statement. With `anonymise`, constants that the server has left in the text become parameters.
pub(crate) fn classify(text: &str, anonymise: bool) -> Classified {
    let all = tokens(text);
    let words: Vec<_> = all.iter().filter(|token| !matches!(token, Token::Space(_) | Token::Comment(_))).collect();
    let kind = kind(&words);
    let first = words.iter().take(UTILITY_WORDS).map_while(|token| match token {
        Token::Word(word) => Some(word.to_ascii_uppercase()),
        _ => None,
    });
    match kind {
        StatementKind::Transaction => {
            let text = first.take(1).collect::<Vec<_>>().join(" ");
            return Classified { text, kind, refused: Some("it begins or ends a transaction".to_owned()) };
        }
        StatementKind::Utility => {
            let text = first.collect::<Vec<_>>().join(" ");
            let text = if text.is_empty() { "(unknown)".to_owned() } else { text };
            return Classified { text, kind, refused: Some("it is no query".to_owned()) };
        }
        StatementKind::Monitoring | StatementKind::Read | StatementKind::Write => {}
    }
    let refused = words.windows(2).find_map(|pair| effect(pair[0], pair[1]));
    let is_monitoring = kind == StatementKind::Monitoring;
    let refused = refused.or_else(|| is_monitoring.then(|| "it reads the server's catalogs".to_owned()));
    let kept = if anonymise { without_constants(&all) } else { all.iter().map(|token| kept(*token)).collect() };
    Classified { text: trimmed(&kept), kind, refused }
}

/// Returns true if the text has a constant that the server has left in it: a text, or a number where one is compared.
pub(crate) fn has_constants(text: &str) -> bool {
    tokens(text).iter().any(|token| matches!(token, Token::Text(_)))
}

fn kind(words: &[&Token<'_>]) -> StatementKind {
    let Some(first) = words.iter().find(|token| !matches!(token, Token::Other("("))) else {
        return StatementKind::Utility;
    };
    let is = |names: &[&str]| names.iter().any(|name| first.is(name));
    if is(&["begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"]) {
        StatementKind::Transaction
    } else if is(&["insert", "update", "delete", "merge"]) {
        StatementKind::Write
    } else if is(&["select", "with", "values", "table"]) {
        let writes = |pair: &[&Token<'_>]| {
            let verb = pair[1];
            // `for update` and `on conflict do update` are no writes of their own; a CTE writes behind a parenthesis.
            matches!(pair[0], Token::Other("(" | ")"))
                && ["insert", "update", "delete", "merge"].iter().any(|name| verb.is(name))
        };
        match first.is("with") && words.windows(2).any(writes) {
            true => StatementKind::Write,
            false if reads_catalogs(words) => StatementKind::Monitoring,
            false => StatementKind::Read,
        }
    } else {
        StatementKind::Utility
    }
}

/// Returns what a call does beyond its statement.
fn effect(name: &Token<'_>, after: &Token<'_>) -> Option<String> {
    let (Token::Word(name), Token::Other("(")) = (name, after) else { return None };
    let name = name.to_ascii_lowercase();
    EFFECTS.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, does)| format!("{name}() {does}"))
}

/// Returns true if all that the statement names behind FROM and JOIN are catalogs and functions of the server, as monitoring does.
fn reads_catalogs(words: &[&Token<'_>]) -> bool {
    // `is distinct from` compares.
    let is_before_table = |at: usize| match words[at] {
        word if word.is("from") => at == 0 || !words[at - 1].is("distinct"),
        word => word.is("join"),
    };
    let named = (0..words.len().saturating_sub(1)).filter(|at| is_before_table(*at)).map(|at| words[at + 1]);
    let (mut tables, mut catalogs) = (0, 0);
    for name in named.filter(|name| matches!(name, Token::Word(_) | Token::Quoted(_))) {
        tables += 1;
        let name = name.text().trim_matches('"').to_ascii_lowercase();
        catalogs += u32::from(name.starts_with("pg_") || name == "information_schema");
    }
    tables > 0 && tables == catalogs
}

/// Returns what is kept of a token: comments may have values of the user's, such as the number of a request.
fn kept(token: Token<'_>) -> &str {
    match token {
        // PostgreSQL 18 writes `$1 /*, ... */` for a list.
        Token::Comment("/*, ... */") => "/*, ... */",
        Token::Comment(_) | Token::Space(_) => " ",
        other => other.text(),
    }
}

/// Returns the text with a further parameter for each constant.
fn without_constants(all: &[Token<'_>]) -> String {
    let number = |token: &Token<'_>| match token {
        Token::Parameter(text) => text[1..].parse::<u32>().ok(),
        _ => None,
    };
    let mut last = all.iter().filter_map(number).max().unwrap_or_default();
    let mut text = String::new();
    for (at, token) in all.iter().enumerate() {
        let before = all[..at].iter().rev().find(|token| !matches!(token, Token::Space(_) | Token::Comment(_)));
        // `order by 1` names a column.
        let is_place = before.is_some_and(|token| token.is("by") || matches!(token, Token::Other(",")));
        match token {
            Token::Text(_) => {
                last += 1;
                text += &format!("${last}");
            }
            Token::Number(_) if !is_place => {
                last += 1;
                text += &format!("${last}");
            }
            other => text += kept(*other),
        }
    }
    text
}

/// Returns the text with single spaces between its tokens, as it was otherwise.
fn trimmed(text: &str) -> String {
    let mut trimmed = String::with_capacity(text.len());
    for token in tokens(text) {
        match token {
            Token::Space(_) if trimmed.is_empty() || trimmed.ends_with(' ') => {}
            Token::Space(_) => trimmed.push(' '),
            other => trimmed.push_str(other.text()),
        }
    }
    trimmed.trim_end_matches([' ', ';']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_what_they_do() {
        use StatementKind::{Read, Transaction, Utility, Write};
        for (text, kind) in [
            ("select 1", Read),
            ("(select 1) union select 2", Read),
            ("with a as (select 1) select * from a", Read),
            ("WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a", Write),
            ("with a as (select 1) insert into t select * from a", Write),
            ("select * from t for update", Read),
            ("/* route */ update t set a = $1", Write),
            ("insert into t values ($1) on conflict do nothing", Write),
            ("merge into t using s on $1", Write),
            ("BEGIN", Transaction),
            ("savepoint a", Transaction),
            ("set work_mem = '1GB'", Utility),
            ("copy t from stdin", Utility),
            ("", Utility),
            ("<insufficient privilege>", Utility),
        ] {
            assert_eq!(classify(text, false).kind, kind, "{text}");
        }
    }

    #[test]
    fn values_of_the_user_do_not_stay_in_utility_statements_and_comments() {
        let of = |text| classify(text, false).text;
        assert_eq!(of("alter role app password 'secret'"), "ALTER ROLE");
        assert_eq!(of("set application_name = 'x'"), "SET APPLICATION_NAME");
        assert_eq!(of("PREPARE TRANSACTION 'id-4711'"), "PREPARE TRANSACTION");
        assert_eq!(of("savepoint s_4711"), "SAVEPOINT");
        assert_eq!(of("select a /* user=4711 */ from t -- 42\n where b = $1;"), "select a from t where b = $1");
        assert_eq!(of("select  1\n\tfrom t"), "select 1 from t");
        assert_eq!(of("select * from t where a in ($1 /*, ... */)"), "select * from t where a in ($1 /*, ... */)");
    }

    #[test]
    fn constants_become_parameters_where_asked_for() {
        let of = |text| classify(text, true).text;
        assert_eq!(
            of("select * from t where a = 'x' and b = $1 and c = 5"),
            "select * from t where a = $2 and b = $1 and c = $3"
        );
        assert_eq!(
            of("select a, count(*) from t group by 1 order by 2, 1"),
            "select a, count(*) from t group by 1 order by 2, 1"
        );
        assert!(has_constants("select 'a'") && !has_constants("select $1, 5"));
    }

    #[test]
    fn a_call_whose_effects_reach_further_is_refused() {
        let of = |text| classify(text, false).refused;
        assert_eq!(
            of("select pg_advisory_xact_lock($1)").unwrap(),
            "pg_advisory_xact_lock() locks what the application has agreed on"
        );
        assert_eq!(of("select pg_sleep ($1)").unwrap(), "pg_sleep() waits");
        assert_eq!(
            of("select * from pg_stat_activity a join pg_locks l on true").unwrap(),
            "it reads the server's catalogs"
        );
        assert!(of("select a is distinct from b from pg_settings").is_some());
        assert_eq!(of("select * from pg_class c join t on true"), None);
        assert_eq!(of("select lo_name from t"), None);
        assert_eq!(of("select 1"), None);
    }
}
