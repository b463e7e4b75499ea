//! Returns whether SQL only reads, by its words. The effects of functions are unknown: a read-only server refuses
//! them.

/// Statements without lasting effects.
const READERS: [&str; 26] = [
    "abort",
    "begin",
    "close",
    "commit",
    "deallocate",
    "declare",
    "discard",
    "end",
    "execute",
    "explain",
    "fetch",
    "move",
    "prepare",
    "release",
    "reset",
    "rollback",
    "savepoint",
    "select",
    "set",
    "show",
    "start",
    "table",
    "values",
    "with",
    "listen",
    "unlisten",
];
/// Words that make a statement write although it begins as one that reads: in WITH, SELECT … INTO, and row locks.
const WRITERS: [&str; 6] = ["insert", "update", "delete", "merge", "into", "share"];

/// Returns true if every statement of this text only reads.
pub(super) fn only_reads(sql: &str) -> bool {
    let plain = plain(sql);
    plain.split(';').all(|statement| {
        let words = || statement.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let is_one_of = |word: &str, list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
        match words().next() {
            None => true,
            Some(first) => is_one_of(first, &READERS) && !words().any(|word| is_one_of(word, &WRITERS)),
        }
    })
}

/// Returns the statements of a text, without comments, literals and quoted names.
pub(super) fn statements(sql: &str) -> Vec<String> {
    plain(sql)
        .split(';')
        .map(|statement| statement.trim().to_owned())
        .filter(|statement| !statement.is_empty())
        .collect()
}

/// Returns the first word of a statement without comments, in lower case.
fn first_word(statement: &str) -> String {
    let word = statement.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
    word.unwrap_or_default().to_ascii_lowercase()
}

/// Returns true if a statement without comments begins a transaction block.
pub(super) fn begins_block(statement: &str) -> bool {
    matches!(first_word(statement).as_str(), "begin" | "start")
}

/// Returns true if a statement without comments ends a transaction block.
pub(super) fn ends_block(statement: &str) -> bool {
    let to_savepoint = statement.split_whitespace().any(|word| word.eq_ignore_ascii_case("to"));
    match first_word(statement).as_str() {
        "rollback" => !to_savepoint,
        word => matches!(word, "end" | "commit" | "abort"),
    }
}

/// Returns true if a statement without comments commits a transaction block.
pub(super) fn commits_block(statement: &str) -> bool {
    matches!(first_word(statement).as_str(), "end" | "commit")
}

/// Returns the text without comments, literals and quoted names.
fn plain(sql: &str) -> String {
    let mut plain = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(['-', '/', '\'', '"', '$']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let end = if from.starts_with("--") {
            from.find('\n')
        } else if from.starts_with("/*") {
            comment_end(from)
        } else if let Some(quote @ ('\'' | '"')) = from.chars().next() {
            from[1..].find(quote).map(|end| end + 2)
        } else if let Some(tag) = dollar_tag(from) {
            from[tag.len()..].find(tag).map(|end| end + 2 * tag.len())
        } else {
            plain.push_str(&from[..1]);
            rest = &from[1..];
            continue;
        };
        plain.push(' ');
        rest = end.map_or("", |end| &from[end..]);
    }
    plain + rest
}

/// Returns the end of the comment at the start of `text`; comments nest.
fn comment_end(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    loop {
        let (open, close) = (text[at..].find("/*"), text[at..].find("*/"));
        match (open, close) {
            (Some(open), Some(close)) if open < close => (depth, at) = (depth + 1, at + open + 2),
            (_, Some(close)) => (depth, at) = (depth - 1, at + close + 2),
            (_, None) => return None,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns `$tag$` at the start of `text`.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 2;
    let name = &text[1..end - 1];
    let is_name =
        name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_distinguished_from_writers() {
        for reader in [
            "select 1",
            "SELECT abalance FROM pgbench_accounts WHERE aid = :aid",
            " -- update\n select 'delete', \"into\", $x$ insert $x$ /* for /* nested */ update */ from t",
            "begin; select 1; commit",
            "with a as (select 1) table a",
            "(select 1) union (select 2)",
            "set local work_mem = '64MB'",
            "",
        ] {
            assert!(only_reads(reader), "{reader}");
        }
        for writer in [
            "update t set a = 1",
            "select 1; delete from t",
            "with gone as (delete from t returning *) select * from gone",
            "select * from t for update",
            "select * from t for key share",
            "select 1 into other",
            "call p()",
            "vacuum t",
            "create temp table x (a int)",
            "copy t to stdout",
            "/* select */ insert into t values ('select')",
        ] {
            assert!(!only_reads(writer), "{writer}");
        }
    }
}
