//! What a statement does, and whether it can be part of a benchmark.

use crate::form::StatementKind;
use crate::tokens::{Token, tokens};

/// Second words of utility statements that are kept. Others may be names: of roles, of channels, of settings.
const UTILITY_WORDS: [&str; 34] = [
    "ALL",
    "ANALYZE",
    "CONCURRENTLY",
    "CONSTRAINTS",
    "DATABASE",
    "DEFAULT",
    "DOMAIN",
    "EXTENSION",
    "FULL",
    "FUNCTION",
    "INDEX",
    "LOCAL",
    "MATERIALIZED",
    "OR",
    "POLICY",
    "PROCEDURE",
    "PUBLICATION",
    "ROLE",
    "SCHEMA",
    "SEQUENCE",
    "SERVER",
    "SESSION",
    "STATISTICS",
    "SUBSCRIPTION",
    "SYSTEM",
    "TABLE",
    "TEMP",
    "TEMPORARY",
    "TRANSACTION",
    "TRIGGER",
    "TYPE",
    "UNIQUE",
    "UNLOGGED",
    "VIEW",
];

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
const EFFECTS: [(&str, &str); 52] = [
    ("pg_advisory_", "locks what the application has agreed on"),
    ("pg_try_advisory_", "locks what the application has agreed on"),
    ("dblink", "executes statements elsewhere"),
    ("lo_", "works on large objects"),
    ("lowrite", "works on large objects"),
    ("loread", "works on large objects"),
    ("pg_notify", "wakes other sessions"),
    ("pg_sleep", "waits"),
    ("pg_terminate_backend", "ends other sessions"),
    ("pg_cancel_backend", "ends statements of other sessions"),
    ("set_config", "changes settings"),
    ("setval", "changes a sequence for all sessions"),
    ("query_to_xml", "executes a text as SQL"),
    ("query_to_json", "executes a text as SQL"),
    ("cursor_to_xml", "executes a text as SQL"),
    ("table_to_xml", "executes a text as SQL"),
    ("schema_to_xml", "executes a text as SQL"),
    ("database_to_xml", "executes a text as SQL"),
    ("ts_stat", "executes a text as SQL"),
    ("ts_rewrite", "executes a text as SQL"),
    ("crosstab", "executes a text as SQL"),
    ("connectby", "executes a text as SQL"),
    ("xpath_table", "executes a text as SQL"),
    ("http_get", "sends a request to another machine"),
    ("http_post", "sends a request to another machine"),
    ("http_put", "sends a request to another machine"),
    ("http_patch", "sends a request to another machine"),
    ("http_delete", "sends a request to another machine"),
    ("http_head", "sends a request to another machine"),
    ("query_export_to_s3", "writes files elsewhere"),
    ("table_import_from_s3", "reads files elsewhere"),
    ("pg_read_", "reads files of the server"),
    ("pg_ls_", "reads files of the server"),
    ("pg_stat_file", "reads files of the server"),
    ("pg_file_", "writes files of the server"),
    ("pg_log", "changes the server"),
    ("pg_rotate_logfile", "changes the server"),
    ("pg_export_snapshot", "changes the server"),
    ("pg_create_", "changes the server"),
    ("pg_copy_", "changes the server"),
    ("pg_drop_", "changes the server"),
    ("pg_replication_", "changes the server"),
    ("pg_promote", "changes the server"),
    ("pg_wal_replay_", "changes the server"),
    ("pg_backup_", "changes the server"),
    ("pg_start_backup", "changes the server"),
    ("pg_stop_backup", "changes the server"),
    ("pg_switch_wal", "changes the server"),
    ("pg_reload_conf", "changes the server"),
    ("pg_import_system_collations", "changes the server"),
    ("pg_stat_reset", "resets counters"),
    ("pg_stat_statements_reset", "resets counters"),
];

/// The same, by the whole of their names: others may begin so.
const EFFECTS_BY_NAME: [(&str, &str); 1] = [("http", "sends a request to another machine")];

/// The same, in a schema.
const EFFECTS_IN_SCHEMAS: [(&str, &str, &str); 3] = [
    ("aws_lambda", "invoke", "starts a function of a cloud"),
    ("cron", "schedule", "changes what runs on the server by itself"),
    ("cron", "unschedule", "changes what runs on the server by itself"),
];

/// Parameters that a statement of a script may have.
const PARAMETERS_MAX: u32 = 255;

/// Returns what a capture keeps of a statement. With `anonymise`, constants that the server has left in the text become parameters.
pub(crate) fn classify(text: &str, anonymise: bool) -> Classified {
    let all = tokens(text);
    let words: Vec<_> = all.iter().filter(|token| !token.is_blank()).collect();
    let kind = kind(&words);
    let word = |place: usize| match words.get(place) {
        Some(Token::Word(word)) => Some(word.to_ascii_uppercase()),
        _ => None,
    };
    match kind {
        StatementKind::Transaction => {
            let text = word(0).unwrap_or_default();
            return Classified { text, kind, refused: Some("it begins or ends a transaction".to_owned()) };
        }
        StatementKind::Utility => {
            let text = match (word(0), word(1).filter(|second| UTILITY_WORDS.contains(&second.as_str()))) {
                (Some(first), Some(second)) => format!("{first} {second}"),
                (Some(first), None) => first,
                (None, _) => "(unknown)".to_owned(),
            };
            return Classified { text, kind, refused: Some("it is a utility statement".to_owned()) };
        }
        StatementKind::Monitoring | StatementKind::Read | StatementKind::Write => {}
    }
    let before = |at: usize, back: usize| at.checked_sub(back).and_then(|at| words.get(at)).copied();
    // `insert into http (…)` calls nothing.
    let is_table = |at: usize| before(at, 1).is_some_and(|token| token.is("into"));
    let of_pair = |(at, pair): (usize, &[&Token<'_>])| {
        let schema = before(at, 2).filter(|_| before(at, 1).is_some_and(|dot| *dot == Token::Other(".")));
        if is_table(at) { None } else { effect(schema, pair[0], pair[1]) }
    };
    let refused = words.windows(2).enumerate().find_map(of_pair);
    // `U&"\0070g_sleep"` is a name, too.
    let is_escaped = |three: &[&Token<'_>]| {
        three[0].is("u") && *three[1] == Token::Other("&") && matches!(three[2], Token::Quoted(_))
    };
    let refused =
        refused.or_else(|| words.windows(3).any(is_escaped).then(|| "it has an escaped name (U&)".to_owned()));
    let is_monitoring = kind == StatementKind::Monitoring;
    let refused = refused.or_else(|| is_monitoring.then(|| "it reads the server's catalogs".to_owned()));
    let kept = if anonymise { without_constants(&all) } else { all.iter().map(|token| kept(*token)).collect() };
    let text = trimmed(&kept);
    let refused = refused.or_else(|| {
        let why = || format!("it has more parameters than a script may have ({PARAMETERS_MAX})");
        tokens(&text).iter().any(is_beyond).then(why)
    });
    Classified { text, kind, refused }
}

/// Returns true for a parameter that no script can have. In a capture from anyone it may have any number.
fn is_beyond(token: &Token<'_>) -> bool {
    match token {
        Token::Parameter(text) => !text[1..].parse().is_ok_and(|number| (1..=PARAMETERS_MAX).contains(&number)),
        _ => false,
    }
}

/// Returns true if the text has a constant that the server has left in it.
pub(crate) fn has_constants(text: &str) -> bool {
    are_constants(&tokens(text)).contains(&true)
}

/// Types whose modifiers are numbers.
const TYPES: [&str; 11] = [
    "bit",
    "char",
    "character",
    "decimal",
    "float",
    "interval",
    "numeric",
    "time",
    "timestamp",
    "timestamptz",
    "varchar",
];

/// Words after which no item of a list is the place of a column, until the next `by`.
const BEGIN_OTHER_LISTS: [&str; 9] =
    ["from", "having", "limit", "offset", "returning", "select", "set", "values", "window"];

/// Returns for each token whether it is a constant: neither the place of a column, as in `order by 1, 2`, nor a modifier of a type.
fn are_constants(all: &[Token<'_>]) -> Vec<bool> {
    let is_type = |token: Token<'_>| token.is("varying") || TYPES.iter().any(|name| token.is(name));
    let begins_other = |token: Token<'_>| BEGIN_OTHER_LISTS.iter().any(|word| token.is(word));
    // Whether the list that a token is in, if it is in one, has places or modifiers, and those around it.
    let (mut has_places, mut around) = (false, Vec::new());
    let mut before = Token::Other("");
    // The number before this token, if it may be a place or a modifier: it is where the item ends with it.
    let mut place = None;
    let mut found = Vec::with_capacity(all.len());
    for token in all.iter().copied() {
        let is_item = matches!(before, Token::Other("(" | ",")) || before.is("by");
        found.push(match token {
            Token::Text(_) => true,
            Token::Number(_) => !(has_places && is_item),
            _ => false,
        });
        if token.is_blank() {
            continue;
        }
        if let (Some(at), Token::Other(next)) = (place, token)
            && !matches!(next, "," | ")" | "]" | ";")
        {
            found[at] = true;
        }
        place = matches!(token, Token::Number(_)).then(|| found.len() - 1).filter(|at| !found[*at]);
        match token {
            word if word.is("by") => has_places = true,
            word if begins_other(word) => has_places = false,
            Token::Other("(" | "[") => {
                around.push(has_places);
                has_places = is_type(before);
            }
            Token::Other(")" | "]") => has_places = around.pop().unwrap_or_default(),
            _ => {}
        }
        before = token;
    }
    found
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
fn effect(schema: Option<&Token<'_>>, name: &Token<'_>, after: &Token<'_>) -> Option<String> {
    let (Token::Word(name) | Token::Quoted(name), Token::Other("(")) = (name, after) else { return None };
    let name = name.trim_matches('"').to_ascii_lowercase();
    let by_name = EFFECTS_BY_NAME.iter().find(|(whole, _)| name == *whole);
    let found = by_name.or_else(|| EFFECTS.iter().find(|(begin, _)| name.starts_with(begin)));
    let schema = schema.map(|schema| schema.text().trim_matches('"').to_ascii_lowercase());
    let is_such = |(of, whole, _): &&(&str, &str, &str)| schema.as_deref() == Some(of) && name == *whole;
    let does = found.map(|(_, does)| does).or_else(|| EFFECTS_IN_SCHEMAS.iter().find(is_such).map(|(.., does)| does));
    does.map(|does| format!("{name}() {does}"))
}

/// Returns of each word whether it is an argument of a function whose syntax has FROM: `extract(epoch from now())`.
fn within_calls(words: &[&Token<'_>]) -> Vec<bool> {
    let has_from = |word: &Token<'_>| ["extract", "substring", "trim", "overlay"].iter().any(|name| word.is(name));
    let mut open = Vec::new();
    let within = |(at, word): (usize, &&Token<'_>)| {
        match word {
            Token::Other("(") => open.push(at > 0 && has_from(words[at - 1])),
            Token::Other(")") => drop(open.pop()),
            _ => {}
        }
        open.last().copied().unwrap_or_default()
    };
    words.iter().enumerate().map(within).collect()
}

/// Returns true if all that the statement names behind FROM and JOIN are catalogs and functions of the server, as monitoring does.
fn reads_catalogs(words: &[&Token<'_>]) -> bool {
    let within_calls = within_calls(words);
    // `is distinct from` compares.
    let is_before_table = |at: usize| match words[at] {
        word if word.is("from") => !within_calls[at] && (at == 0 || !words[at - 1].is("distinct")),
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
    for (token, is_constant) in all.iter().zip(are_constants(all)) {
        match token {
            _ if is_constant => {
                last = last.saturating_add(1);
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
        assert_eq!(of("set application_name = 'x'"), "SET");
        assert_eq!(of("grant secret_role to x"), "GRANT");
        assert_eq!(of("listen secret"), "LISTEN");
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
        assert_eq!(of("select * from t where v in ($1, 987654321)"), "select * from t where v in ($1, $2)");
        assert_eq!(of("insert into t values ($1, 4111)"), "insert into t values ($1, $2)");
        assert_eq!(
            of("select $1::numeric(10, 2) from t order by a desc, 2"),
            "select $1::numeric(10, 2) from t order by a desc, 2"
        );
        assert_eq!(of("select a from t order by a 5, (b, 2), 3"), "select a from t order by a $1, (b, $2), 3");
        for (tail, kept) in [
            ("group by coalesce(a, 7), b::numeric(10, 2), 4", "group by coalesce(a, $1), b::numeric(10, 2), 4"),
            ("group by 7 + b, a * 7, 4", "group by $1 + b, a * $2, 4"),
            ("order by array[a, 7], 'x', $1 = b, 4 limit 7", "order by array[a, $2], $3, $1 = b, 4 limit $4"),
            ("order by 2 union all select 7, 7", "order by 2 union all select $1, $2"),
            (
                "where a in (select b from u group by 1, 2 having b = 7) and c in (7, 8)",
                "where a in (select b from u group by 1, 2 having b = $1) and c in ($2, $3)",
            ),
        ] {
            assert_eq!(classify(&format!("select a from t {tail}"), true).text, format!("select a from t {kept}"));
        }
        assert!(
            has_constants("select 'a'")
                && has_constants("select $1, 5")
                && !has_constants("select a from t order by 1")
        );
    }

    #[test]
    fn a_statement_with_more_parameters_than_a_script_may_have_is_refused() {
        let with = |last: u64| classify(&format!("select * from t where a in ($1, ${last})"), false).refused;
        assert_eq!(with(255), None);
        for last in [0, 256, 4_294_967_295, 99_999_999_999] {
            assert!(with(last).is_some_and(|why| why.contains("(255)")), "{last}");
        }
        let constants = format!("select * from t where a in ({})", vec!["7"; 300].join(", "));
        assert!(classify(&constants, true).refused.is_some() && classify(&constants, false).refused.is_none());
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
        assert!(
            of("select max(extract(epoch from now() - xact_start)), trim(both from a) from pg_stat_activity").is_some()
        );
        assert!(of("select http($1)").is_some() && of("select aws_lambda.invoke($1, $2)").is_some());
        assert!(of("select cron.schedule($1, $2, $3)").is_some());
        for text in
            ["select https($1), invoke($2)", "insert into http (a) values ($1)", "insert into schedule (a) values ($1)"]
        {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(of("select * from pg_class c join t on true"), None);
        assert!(of("select \"pg_advisory_lock\"($1)").is_some() && of("select U&\"\\0070g_sleep\"($1)").is_some());
        assert_eq!(of("select lo_name from t"), None);
        assert!(of("select ts_stat($1)").is_some() && of("select net.http_post($1)").is_some());
        assert!(of("select 1 -- x\r, lo_export(1, '/x')").is_some(), "for PostgreSQL the comment ends there");
        assert_eq!(of("select 1"), None);
    }
}
