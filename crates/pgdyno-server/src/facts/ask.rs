//! Queries that a server may refuse.

use pgdyno_net::{Admin, AdminError, TextRows};

/// Runs a query; a refusal means unknown.
pub(crate) fn ask(admin: &mut Admin, sql: &str) -> Result<Option<TextRows>, AdminError> {
    match admin.query(sql) {
        Ok(rows) => Ok(Some(rows)),
        Err(error) if error.is_lost() => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the first value of the first row.
pub(crate) fn first(rows: Option<TextRows>) -> Option<String> {
    rows?.rows.into_iter().next()?.into_iter().next()?
}
