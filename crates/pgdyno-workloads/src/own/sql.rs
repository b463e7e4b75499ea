//! Parses SQL files as psql does: fills in variables, and splits statements.
//!
//! Source: PostgreSQL documentation, psql, "SQL Interpolation", and "Lexical Structure".

use std::collections::BTreeMap;

use pgdyno_workload::SqlStatement;

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct SqlTextError {
    /// Line, from 1.
    pub line: usize,
    /// The mistake and the remedy.
    pub what: String,
}

/// Parses a file. `value` returns the value of a variable: `:name` becomes the value itself, `:'name'` a string,
/// `:"name"` an identifier. Unknown names stay as they are, and so does everything in quotes and comments.
///
/// # Errors
/// When a quote or comment has no end, or a line is a command of psql.
pub(super) fn statements(
    text: &str,
    value: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<SqlStatement>, SqlTextError> {
    let mut scan = Scan { text, at: 0, value, statement: String::new(), began: 0, depth: 0, words: Words::default() };
    let mut found = Vec::new();
    while scan.at < text.len() {
        if scan.step()? {
            scan.finish(&mut found);
        }
    }
    // As in psql, the last statement of a file needs no semicolon.
    scan.finish(&mut found);
    Ok(found)
}

/// Parses a file with these values of variables.
///
/// # Errors
/// As [`statements`].
pub(super) fn substitute(text: &str, values: &BTreeMap<&str, &str>) -> Result<Vec<SqlStatement>, SqlTextError> {
    statements(text, &|name| values.get(name).copied().map(str::to_owned))
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    value: &'a dyn Fn(&str) -> Option<String>,
    statement: String,
    /// Start of the statement, if there is one.
    began: usize,
    /// Depth of parentheses.
    depth: usize,
    words: Words,
}

/// State for semicolons within a function's body: `BEGIN ATOMIC … END`.
#[derive(Default)]
struct Words {
    /// The first words of the statement, at most four.
    first: Vec<String>,
    /// `BEGIN`s and `CASE`s of the body without their `END`.
    open: usize,
}

impl Words {
    fn take(&mut self, word: &str) {
        let word = word.to_ascii_lowercase();
        let is_routine = {
            let rest = match self.first.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
                ["create", "or", "replace", kind, ..] | ["create", kind, ..] => Some((*kind).to_owned()),
                _ => None,
            };
            rest.is_some_and(|kind| kind == "function" || kind == "procedure")
        };
        match word.as_str() {
            "begin" if is_routine => self.open += 1,
            "case" if self.open > 0 => self.open += 1,
            "end" if self.open > 0 => self.open -= 1,
            _ => {}
        }
        if self.first.len() < 4 {
            self.first.push(word);
        }
    }
}

fn is_name(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error<T>(&self, at: usize, what: impl Into<String>) -> Result<T, SqlTextError> {
        let line = 1 + self.text[..at].matches('\n').count();
        Err(SqlTextError { line, what: what.into() })
    }

    /// Copies `length` bytes to the statement.
    fn copy(&mut self, length: usize) {
        if self.statement.is_empty() {
            self.began = self.at;
        }
        self.statement.push_str(&self.rest()[..length]);
        self.at += length;
    }

    /// Reads one token. Returns true if it ended the statement.
    fn step(&mut self) -> Result<bool, SqlTextError> {
        let (rest, at) = (self.rest(), self.at);
        let first = rest.as_bytes()[0];
        let second = rest.as_bytes().get(1).copied();
        match first {
            c if c.is_ascii_whitespace() => {
                // A statement begins with its first word.
                if self.statement.is_empty() { self.at += 1 } else { self.copy(1) }
            }
            b'-' if second == Some(b'-') => {
                let length = rest.find('\n').unwrap_or(rest.len());
                if self.statement.is_empty() { self.at += length } else { self.copy(length) }
            }
            b'/' if second == Some(b'*') => {
                let Some(length) = comment(rest) else { return self.error(at, "a comment is never closed") };
                if self.statement.is_empty() { self.at += length } else { self.copy(length) }
            }
            b'\'' | b'"' => {
                let Some(length) = quoted(rest, first, false) else { return self.error(at, "a quote is never closed") };
                self.copy(length);
            }
            b'$' => match dollar_quoted(rest) {
                Dollar::Quoted(length) => self.copy(length),
                Dollar::Open => return self.error(at, "a dollar quote is never closed"),
                Dollar::None => self.copy(1),
            },
            b':' => self.variable(),
            b'\\' => {
                let word = rest.split_whitespace().next().unwrap_or(rest);
                let what = format!("{word} is a command of psql; only SQL can stand here");
                return self.error(at, what);
            }
            b';' if self.depth == 0 && self.words.open == 0 => {
                self.at += 1;
                return Ok(true);
            }
            c if is_name(c) => return self.word(),
            c => {
                self.depth = match c {
                    b'(' => self.depth + 1,
                    b')' => self.depth.saturating_sub(1),
                    _ => self.depth,
                };
                self.copy(1);
            }
        }
        Ok(false)
    }

    /// Reads a word or number; an `E` before a quote belongs to the quote.
    fn word(&mut self) -> Result<bool, SqlTextError> {
        let (rest, at) = (self.rest(), self.at);
        let length = rest.bytes().position(|c| !is_name(c) && c != b'$').unwrap_or(rest.len());
        if matches!(&rest[..length], "e" | "E") && rest[length..].starts_with('\'') {
            let Some(quote) = quoted(&rest[1..], b'\'', true) else { return self.error(at, "a quote is never closed") };
            self.copy(1 + quote);
        } else {
            self.words.take(&rest[..length]);
            self.copy(length);
        }
        Ok(false)
    }

    /// Reads what a colon begins: a variable, a cast or the bound of a slice.
    fn variable(&mut self) {
        let rest = self.rest();
        if rest.starts_with("::") {
            return self.copy(2);
        }
        let quote = rest.as_bytes().get(1).copied().filter(|c| matches!(c, b'\'' | b'"'));
        let from = if quote.is_some() { 2 } else { 1 };
        let length = rest[from..].bytes().position(|c| !is_name(c)).unwrap_or(rest.len() - from);
        let end = from + length;
        let closed = quote.is_none_or(|quote| rest.as_bytes().get(end) == Some(&quote));
        let value = if closed && length > 0 { (self.value)(&rest[from..end]) } else { None };
        let Some(value) = value else { return self.copy(1) };
        if self.statement.is_empty() {
            self.began = self.at;
        }
        match quote {
            None => self.statement.push_str(&value),
            Some(b'"') => self.statement.push_str(&format!("\"{}\"", value.replace('"', "\"\""))),
            Some(_) if value.contains('\\') => {
                self.statement.push_str(&format!(" E'{}'", value.replace('\\', "\\\\").replace('\'', "''")));
            }
            Some(_) => self.statement.push_str(&format!("'{}'", value.replace('\'', "''"))),
        }
        self.at += end + usize::from(quote.is_some());
    }

    /// Ends the statement.
    fn finish(&mut self, found: &mut Vec<SqlStatement>) {
        let sql = std::mem::take(&mut self.statement).trim_end().to_owned();
        if !sql.is_empty() {
            let line = 1 + self.text[..self.began].matches('\n').count();
            found.push(SqlStatement { line, sql });
        }
        self.depth = 0;
        self.words = Words::default();
    }
}

/// Returns the length of a comment, nested comments included.
fn comment(text: &str) -> Option<usize> {
    let (mut at, mut open) = (0, 0usize);
    loop {
        match text.as_bytes().get(at..at + 2)? {
            b"/*" => {
                open += 1;
                at += 2;
            }
            b"*/" => {
                open -= 1;
                at += 2;
                if open == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}

/// Returns the length of a quoted text. A doubled quote ends one text and begins the next, so it needs no special
/// care.
fn quoted(text: &str, quote: u8, backslash_escapes: bool) -> Option<usize> {
    let mut at = 1;
    loop {
        match *text.as_bytes().get(at)? {
            b'\\' if backslash_escapes => at += 2,
            c if c == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

enum Dollar {
    /// Its length.
    Quoted(usize),
    /// It has no end.
    Open,
    /// The dollar begins nothing.
    None,
}

fn dollar_quoted(text: &str) -> Dollar {
    let length = text[1..].bytes().position(|c| !is_name(c)).unwrap_or(text.len() - 1);
    let tag_end = 1 + length;
    let is_tag = text.as_bytes().get(tag_end) == Some(&b'$') && !text.as_bytes()[1].is_ascii_digit();
    if !is_tag {
        return Dollar::None;
    }
    let tag = &text[..=tag_end];
    match text[tag.len()..].find(tag) {
        Some(body) => Dollar::Quoted(tag.len() + body + tag.len()),
        None => Dollar::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Result<Vec<(usize, String)>, String> {
        let value = |name: &str| match name {
            "rows" => Some("500".to_owned()),
            "word" => Some("it's".to_owned()),
            "path" => Some(r"a\b".to_owned()),
            _ => None,
        };
        let found = statements(text, &value).map_err(|e| e.to_string())?;
        Ok(found.into_iter().map(|s| (s.line, s.sql)).collect())
    }

    fn texts(text: &str) -> Vec<String> {
        split(text).unwrap().into_iter().map(|(_, sql)| sql).collect()
    }

    #[test]
    fn statements_end_at_semicolons_and_know_their_lines() {
        let text = "-- a comment; with a semicolon\n\ncreate table a (b int);\n/* one /* in */ another; */ select 1\n;;\n  select 2";
        let expected = [(3, "create table a (b int)"), (4, "select 1"), (6, "select 2")];
        assert_eq!(split(text).unwrap(), expected.map(|(line, sql)| (line, sql.to_owned())));
        assert_eq!(texts(" \n -- nothing\n"), Vec::<String>::new());
    }

    #[test]
    fn semicolons_in_quotes_comments_parentheses_and_bodies_end_nothing() {
        for one in [
            "select 'a;b', \"c;d\", E'it\\';s', $$e;f$$, $x$ $$;$$ $x$",
            "select 1 -- one; two\n + 1",
            "select 1 /* ; */ + 1",
            "create rule r as on insert to t do also (insert into u values (1); insert into u values (2))",
            "create or replace function f() returns int begin atomic select case when true then 1 end; select 2; end",
            "CREATE PROCEDURE p() BEGIN ATOMIC INSERT INTO t VALUES (1); END",
            "select a$b$c, $1",
        ] {
            assert_eq!(texts(&format!("{one}; select 1")), [one, "select 1"], "{one}");
        }
        assert_eq!(texts("begin; select 1; end"), ["begin", "select 1", "end"]);
    }

    #[test]
    fn variables_are_put_in_as_psql_does() {
        for (text, expected) in [
            ("select generate_series(1, :rows)", "select generate_series(1, 500)"),
            ("select :'word', :\"word\"", "select 'it''s', \"it's\""),
            ("select :'path'", r"select  E'a\\b'"),
            ("select 1::rows, :unknown, :'unknown'", "select 1::rows, :unknown, :'unknown'"),
            ("select ':rows', \":rows\", $$:rows$$ -- :rows", "select ':rows', \":rows\", $$:rows$$ -- :rows"),
            ("select a[1:rows], :rows::bigint", "select a[1500], 500::bigint"),
            ("select :'rows", "select :'rows"),
        ] {
            match split(text) {
                Ok(found) => assert_eq!(found[0].1, expected),
                Err(error) => assert_eq!((text, error.as_str()), ("select :'rows", "line 1: a quote is never closed")),
            }
        }
    }

    #[test]
    fn what_is_never_closed_or_no_sql_is_reported_with_its_line() {
        for (text, message) in [
            ("select 1;\nselect 'a\n\n", "line 2: a quote is never closed"),
            ("select \"a", "line 1: a quote is never closed"),
            ("\n\nselect $a$ b $$ ", "line 3: a dollar quote is never closed"),
            ("/* /* */", "line 1: a comment is never closed"),
            ("select 1;\n\\i other.sql", "line 2: \\i is a command of psql; only SQL can stand here"),
        ] {
            assert_eq!(split(text).unwrap_err(), message);
        }
    }
}
