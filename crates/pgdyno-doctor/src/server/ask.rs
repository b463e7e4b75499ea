//! Queries that a server may refuse.

use pgdyno_net::{Admin, AdminError};

/// A row of texts; NULL is `None`.
pub(super) type Row = Vec<Option<String>>;

/// Runs a query; `None` if it is refused: for lack of a privilege, or of a view in that version.
pub(super) fn rows(admin: &mut Admin, sql: &str) -> Result<Option<Vec<Row>>, AdminError> {
    match admin.query(sql) {
        Ok(rows) => Ok(Some(rows.rows)),
        Err(error) if error.is_lost() => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the first row of a query.
pub(super) fn row(admin: &mut Admin, sql: &str) -> Result<Option<Row>, AdminError> {
    Ok(rows(admin, sql)?.and_then(|rows| rows.into_iter().next()))
}

/// Returns a value of a row as text.
pub(super) fn text(row: &Row, nth: usize) -> &str {
    row.get(nth).and_then(Option::as_deref).unwrap_or_default()
}

/// Returns a value of a row as a number; 0 if it is NULL.
pub(super) fn number(row: &Row, nth: usize) -> f64 {
    text(row, nth).parse().unwrap_or_default()
}
