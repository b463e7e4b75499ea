//! The line of a script that names the key of its row: `-- pgdyno ledger: orders.id = :id`. It is a comment, so pgbench runs the script
//! as well.

use std::ops::Range;

use crate::names::{begins_name, continues_name};
use crate::script_error::Site;
use crate::{Script, ScriptError, ScriptText, Slot, VariableNames};

/// The words with which it begins, after the dashes.
const WORDS: &str = "pgdyno ledger:";
const FORM: &str =
    "write the row that the script inserts as TABLE.COLUMN = :VARIABLE, such as -- pgdyno ledger: orders.id = :id";

/// The key of the row that a script inserts, and the variable that has its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptKey {
    /// The table, after its schema if that is named.
    pub table: Vec<String>,
    /// The column.
    pub column: String,
    /// The variable.
    pub slot: Slot,
    /// The line, from 1.
    pub line: u32,
}

impl Script {
    /// Reads the line that names its key, if it has one.
    ///
    /// # Errors
    /// When the line cannot be read, or there are two.
    pub fn find_key(&mut self, source: &ScriptText<'_>, names: &mut VariableNames) -> Result<(), ScriptError> {
        let mut at = 0;
        for (line, bytes) in (1..).zip(source.text.split(|b| *b == b'\n')) {
            let start = at;
            at += bytes.len() + 1;
            let Some(text) = declaration(bytes) else { continue };
            let site = Site { source: &self.name, text: source.text, line };
            let wrong = |message: &str, hint: &str| {
                let place = start..start + bytes.trim_ascii_end().len();
                site.other(message.to_owned(), message, hint, Some(place))
            };
            if self.key.is_some() {
                return Err(wrong("a script has one key", "leave one of the lines out"));
            }
            let Some(found) = parse(text) else { return Err(wrong("this line names no key", FORM)) };
            let mut table = found.names;
            let column = table.pop().unwrap_or_default();
            let name = text.as_bytes()[found.variable.clone()].to_vec();
            self.key = Some(ScriptKey { table, column, slot: names.slot(&name), line });
            // The line ends with the variable, or with spaces.
            let end = start + bytes.trim_ascii_end().len();
            self.mentions.push(end - name.len() - 1..end);
        }
        Ok(())
    }

    /// Returns the key of the row that it inserts, if a line of it names one.
    #[must_use]
    pub fn key(&self) -> Option<&ScriptKey> {
        self.key.as_ref()
    }
}

/// Returns the text after the words of such a line.
fn declaration(line: &[u8]) -> Option<&str> {
    let comment = std::str::from_utf8(line).ok()?.trim().strip_prefix("--")?.trim_start();
    Some(comment.strip_prefix(WORDS)?.trim())
}

/// A line in parts.
struct ParsedKey {
    /// Schema, table and column, or the last two.
    names: Vec<String>,
    /// The variable without its colon.
    variable: Range<usize>,
}

/// Parses `schema.table.column = :variable`. Names are those of SQL, with or without quotes.
fn parse(text: &str) -> Option<ParsedKey> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (name, after) = sql_name(rest)?;
        names.push(name);
        rest = after.trim_start();
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None => break,
        }
    }
    let name = rest.strip_prefix('=')?.trim_start().strip_prefix(':')?;
    let is_name = name.bytes().next().is_some_and(begins_name)
        && name.bytes().all(continues_name)
        && matches!(names.len(), 2 | 3);
    is_name.then(|| ParsedKey { names, variable: text.len() - name.len()..text.len() })
}

/// Returns a name of SQL as the server stores it, and the text after it.
fn sql_name(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let mut name = String::new();
        let mut rest = quoted;
        loop {
            let (part, after) = rest.split_once('"')?;
            name.push_str(part);
            match after.strip_prefix('"') {
                Some(after) => {
                    name.push('"');
                    rest = after;
                }
                None => return (!name.is_empty()).then_some((name, after)),
            }
        }
    }
    let is_part =
        |(at, c): &(usize, char)| c.is_alphabetic() || *c == '_' || *at > 0 && (c.is_ascii_digit() || *c == '$');
    let length: usize = text.char_indices().take_while(is_part).map(|(_, c)| c.len_utf8()).sum();
    let (name, rest) = text.split_at(length);
    (length > 0).then(|| (name.to_ascii_lowercase(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Defined, parse as parse_script};

    fn key(text: &str) -> Result<Option<(Vec<String>, String)>, ScriptError> {
        let source = ScriptText { name: "a.sql", text: text.as_bytes() };
        let mut names = VariableNames::new();
        let mut script = parse_script(&source, &mut names)?;
        script.find_key(&source, &mut names)?;
        Defined::new(std::slice::from_ref(&script), [], None).check(&script, &source, true)?;
        Ok(script.key().map(|key| {
            assert_eq!(names.name(key.slot), b"id");
            (key.table.clone(), key.column.clone())
        }))
    }

    #[test]
    fn a_comment_names_table_column_and_variable() {
        for (line, table, column) in [
            ("-- pgdyno ledger: orders.id = :id", &["orders"][..], "id"),
            ("  --pgdyno ledger:Shop . Orders . O_ID=:id  \r", &["shop", "orders"], "o_id"),
            ("-- pgdyno ledger: \"Shop\".\"a\"\"b\".\"The Id\" = :id", &["Shop", "a\"b"], "The Id"),
        ] {
            let found = key(&format!("\\set id 1\n{line}\nselect :id;\n")).unwrap_or_else(|error| panic!("{error}"));
            let table: Vec<String> = table.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(found, Some((table, column.to_owned())), "{line}");
        }
        assert_eq!(key("-- ledger: of last year\nselect 1;").unwrap(), None);
    }

    #[test]
    fn a_line_that_names_no_key_is_refused_with_its_place() {
        for (line, words) in [
            ("-- pgdyno ledger: orders = :id", "a.sql:2:1: this line names no key"),
            ("-- pgdyno ledger: orders.id", "this line names no key"),
            ("-- pgdyno ledger: a.b.c.d = :id", "this line names no key"),
            ("-- pgdyno ledger: orders.id = :id and more", "this line names no key"),
            ("-- pgdyno ledger: orders.id; drop table x = :id", "this line names no key"),
            ("-- pgdyno ledger: \"\".id = :id", "this line names no key"),
            ("-- pgdyno ledger: a.b = :id\n-- pgdyno ledger: a.c = :id", "a.sql:3:1: a script has one key"),
            ("-- pgdyno ledger: orders.id = :idd", "a.sql:2:31: nothing sets the variable \"idd\""),
        ] {
            let error = key(&format!("\\set id 1\n{line}\nselect :id;\n")).unwrap_err().to_string();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
