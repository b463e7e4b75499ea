//! Changes that runs have made to the data: repaired if one was interrupted.

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{DataSet, Repair, STAMP_TABLE};

/// How long a repair waits for sessions of the interrupted run that still write.
const WRITERS_GONE: &str = "set local lock_timeout = '30s'";

/// Returns what completes or undoes a change of the data that was interrupted; `None` if there is none.
///
/// # Errors
/// When the stamp cannot be read.
pub fn interrupted_change(admin: &mut Admin, data: &dyn DataSet) -> Result<Option<Repair>, AdminError> {
    let table = format!("select to_regclass(quote_ident(current_schema()) || '.{STAMP_TABLE}')::text");
    let Some(table) = admin.query_opt(&table)? else { return Ok(None) };
    let dataset = quote::literal(data.meta().dataset);
    // A table of an older pgdyno lacks this column.
    let changes = format!("select to_jsonb(s) ->> 'changes' from {table} s where dataset = {dataset} and complete");
    Ok(admin.query_opt(&changes)?.and_then(|changes| data.changed(&changes).repair))
}

/// Carries out a repair, in one transaction.
///
/// # Errors
/// When a statement fails: then nothing has changed.
pub fn repair(admin: &mut Admin, repair: &Repair) -> Result<(), AdminError> {
    admin.patiently(|admin| repair_patiently(admin, repair))
}

fn repair_patiently(admin: &mut Admin, repair: &Repair) -> Result<(), AdminError> {
    admin.execute("begin")?;
    let statements = std::iter::once(WRITERS_GONE).chain(repair.sql.iter().map(String::as_str));
    let done = statements.into_iter().try_for_each(|sql| admin.execute(sql).map(drop));
    match done {
        Ok(()) => admin.execute("commit").map(drop),
        Err(error) => {
            // The first error is the cause, whatever the rollback says.
            drop(admin.execute("rollback"));
            Err(error)
        }
    }
}
