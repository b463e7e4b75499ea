//! Reads the lists of values that scripts draw from.

use pgdyno_net::{Admin, AdminError};
use pgdyno_text::units;
use pgdyno_workload::{ValueQuery, ValueRows, ValueRowsError, Workload};

use super::before::Looking;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// Rows of one answer of the server.
const BATCH_ROWS: usize = 1_000;

impl Looking<'_> {
    /// Reads the lists, and gives them to the scripts.
    pub(super) fn read_values(&self, admin: &mut Admin) -> Result<()> {
        let Some(lists) = &self.workload.drive.value_lists else { return Ok(()) };
        let mut all = Vec::new();
        for query in lists.queries() {
            let rows = admin.patiently(|admin| read(admin, query))?;
            let number = units::plural(rows.rows() as u64, "row");
            self.context.view.detail(&format!("values {}: {number}", query.name));
            all.push(rows);
        }
        lists.provide(all).or_fail(Code::Start)
    }
}

/// Refuses lists of values where no server has any.
pub(super) fn refuse_without_server(workload: &Workload) -> Result<()> {
    let Some(lists) = &workload.drive.value_lists else { return Ok(()) };
    let places: Vec<_> = lists.queries().iter().map(|query| query.place.as_str()).collect();
    let error = format!("{}: a null server has no values to read", places.join("; "));
    Err(CommandError::new(Code::Start, error).hint("run it on a server with its data: --target"))
}

/// Reads a list. A cursor limits the memory of an answer, and ends the query soon where the list is too large.
fn read(admin: &mut Admin, query: &ValueQuery) -> Result<ValueRows> {
    // All rows are read: the plan for the first ones may take far longer.
    let declare = format!(
        "BEGIN READ ONLY; SET LOCAL cursor_tuple_fraction = 1; DECLARE pgdyno_values NO SCROLL CURSOR FOR\n{}",
        query.sql
    );
    let read = admin.execute(&declare).map_err(|error| refused(query, &error)).and_then(|_| fetch(admin, query));
    let ended = admin.execute("ROLLBACK").or_fail(Code::Start);
    let rows = read?;
    ended.map(|_| rows)
}

fn fetch(admin: &mut Admin, query: &ValueQuery) -> Result<ValueRows> {
    let impossible = |error: ValueRowsError| {
        let remedy = error.remedy();
        CommandError::new(Code::Start, format!("{}: {error}", query.place)).hint(remedy)
    };
    let mut list = None;
    loop {
        let batch = admin.query(&format!("FETCH {BATCH_ROWS} FROM pgdyno_values"));
        let batch = batch.map_err(|error| refused(query, &error))?;
        let rows: &mut ValueRows = match &mut list {
            Some(rows) => rows,
            None => list.insert(ValueRows::new(batch.columns).map_err(impossible)?),
        };
        batch.rows.iter().try_for_each(|row| rows.push(row)).map_err(impossible)?;
        if batch.rows.len() < BATCH_ROWS {
            break;
        }
    }
    list.filter(|list| list.rows() > 0).ok_or_else(|| impossible(ValueRowsError::NoRows))
}

/// Returns the failure of the query of a list.
fn refused(query: &ValueQuery, error: &AdminError) -> CommandError {
    let failed = CommandError::new(Code::Start, format!("{}: its query failed: {}", query.place, error.reason()));
    match error.remedy() {
        Some(remedy) => failed.hint(remedy),
        None if matches!(error, AdminError::Server { .. }) => failed.hint("correct the sql of this list"),
        None => failed,
    }
}
