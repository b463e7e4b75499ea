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

/// Runs queries in one text, which a server far away answers in the time of one; each for itself if it refuses one of them.
pub(crate) fn ask_all<const N: usize>(
    admin: &mut Admin,
    queries: [&str; N],
) -> Result<[Option<TextRows>; N], AdminError> {
    match admin.query_all(&queries.join("; ")).map(<[TextRows; N]>::try_from) {
        Ok(Ok(all)) => return Ok(all.map(Some)),
        Err(error) if error.is_lost() => return Err(error),
        _ => {}
    }
    let mut answers = [const { None }; N];
    for (answer, sql) in answers.iter_mut().zip(queries) {
        *answer = ask(admin, sql)?;
    }
    Ok(answers)
}

/// Returns the first value of the first row.
pub(crate) fn first(rows: Option<TextRows>) -> Option<String> {
    rows?.rows.into_iter().next()?.into_iter().next()?
}
