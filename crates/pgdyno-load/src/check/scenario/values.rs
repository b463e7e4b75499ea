//! Values that a scenario keeps, and statements that use them.

use std::collections::BTreeMap;

use pgdyno_net::{TextRows, quote};

/// Values by `name.column`; `None` is NULL.
#[derive(Debug, Default)]
pub(crate) struct Values(BTreeMap<String, Option<String>>);

impl Values {
    /// One value.
    pub(crate) fn set(&mut self, name: &str, column: &str, value: Option<String>) {
        self.0.insert(format!("{name}.{column}"), value);
    }

    /// Keeps the first row, if there is one.
    pub(crate) fn keep(&mut self, name: &str, rows: TextRows) {
        let Some(row) = rows.rows.into_iter().next() else { return };
        for (column, value) in rows.columns.iter().zip(row) {
            self.set(name, column, value);
        }
    }

    /// Returns the statement with literals in place of `:name.column`. A double colon (a cast), and a colon without
    /// both names, stay as they are.
    ///
    /// # Errors
    /// Returns the first name that was never kept.
    pub(crate) fn fill(&self, sql: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(sql.len());
        let mut rest = sql;
        while let Some(at) = rest.find(':') {
            let (before, after) = (&rest[..at], &rest[at + 1..]);
            filled += before;
            if let Some(cast) = after.strip_prefix(':') {
                filled += "::";
                rest = cast;
                continue;
            }
            let Some(name) = reference(after) else {
                filled.push(':');
                rest = after;
                continue;
            };
            match self.0.get(name) {
                Some(Some(value)) => filled += &quote::literal(value),
                Some(None) => filled += "NULL",
                None => return Err(name.to_owned()),
            }
            rest = &after[name.len()..];
        }
        Ok(filled + rest)
    }
}

/// Returns the `name.column` at the beginning of a text.
fn reference(text: &str) -> Option<&str> {
    let word = |text: &str| {
        let end = text.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
        end.unwrap_or(text.len())
    };
    let name = word(text);
    let column = text[name..].strip_prefix('.').map_or(0, word);
    (name > 0 && column > 0).then(|| &text[..name + 1 + column])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_by_literals_and_nothing_else_is() {
        let mut values = Values::default();
        values.set("t1", "o_id", Some("3001".to_owned()));
        values.set("at", "name", Some("O'Neil".to_owned()));
        values.set("at", "none", None);
        for (sql, filled) in [
            ("select :t1.o_id", "select '3001'"),
            ("select :t1.o_id::int + 1", "select '3001'::int + 1"),
            ("select x::text, :at.name, :at.none)", "select x::text, 'O''Neil', NULL)"),
            ("select a[1:n], '10:30', :t1", "select a[1:n], '10:30', :t1"),
            ("ends with :", "ends with :"),
        ] {
            assert_eq!(values.fill(sql).as_deref(), Ok(filled));
        }
        assert_eq!(values.fill("select :t2.o_id").unwrap_err(), "t2.o_id");
    }
}
