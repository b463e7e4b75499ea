//! `[[values]]`: lists of values that scripts draw from.

use std::collections::BTreeMap;

use pgdyno_workload::ValueQuery;
use serde::Deserialize;

use super::OwnError;
use super::sql::substitute;

/// Words with which a query begins.
const QUERIES: [&str; 4] = ["select", "values", "table", "with"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValuesEntry {
    /// The name by which scripts draw from the list.
    pub(super) name: String,
    /// A query that returns its rows.
    pub(super) sql: String,
}

/// Checks that the names can be those of lists, and are unique.
pub(super) fn admit_names(entries: &[ValuesEntry]) -> Result<(), String> {
    for (at, ValuesEntry { name, .. }) in entries.iter().enumerate() {
        if name.is_empty() || !name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
            return Err(format!(
                "values: '{name}' cannot be the name of a list: write letters, digits and underscores"
            ));
        }
        if entries[..at].iter().any(|other| other.name == *name) {
            return Err(format!("two lists of values are called '{name}'"));
        }
    }
    Ok(())
}

/// Returns the lists of the manifest `file` with values for the parameters in their SQL.
///
/// # Errors
/// When the SQL of a list is not one query.
pub(super) fn queries(
    entries: &[ValuesEntry],
    file: &str,
    values: &BTreeMap<&str, &str>,
) -> Result<Vec<ValueQuery>, OwnError> {
    let query = |entry: &ValuesEntry| {
        let place = format!("{file}, values {}", entry.name);
        let statements =
            substitute(&entry.sql, values).map_err(|source| OwnError::Sql { file: place.clone(), source })?;
        let wrong = |what| Err(OwnError::Wrong { file: place.clone(), what });
        let [statement] = statements.as_slice() else {
            return wrong(format!("a list is one query, but there are {}", statements.len()));
        };
        let sql = statement.sql.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
        let word = sql.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if !QUERIES.iter().any(|query| word.eq_ignore_ascii_case(query)) {
            let what =
                format!("a list is one query, which begins with {}, but this begins with '{word}'", QUERIES.join(", "));
            return wrong(what);
        }
        Ok(ValueQuery { name: entry.name.clone(), sql: statement.sql.clone(), place })
    };
    entries.iter().map(query).collect()
}
