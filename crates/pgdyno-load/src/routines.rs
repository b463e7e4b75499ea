//! Procedures and functions.

use pgdyno_net::{Admin, quote};
use pgdyno_workload::{Capabilities, Routine, Workload};

use crate::inventory::Inventory;
use crate::{LoadError, Phase, identity, stamp};

/// Creates the workload's routines, or replaces them: data that an older pgdyno loaded may be right and its
/// procedures outdated. All in one transaction. Data stays as it is.
///
/// # Errors
/// [`LoadError::Foreign`] when one of them is there and not ours.
pub fn refresh_routines(admin: &mut Admin, workload: &dyn Workload, caps: &Capabilities) -> Result<(), LoadError> {
    let routines = workload.routines(caps);
    if routines.is_empty() {
        return Ok(());
    }
    let inventory = Inventory::take(admin, workload, caps)?;
    let foreign: Vec<_> = inventory.routines.iter().filter(|r| r.identity.is_none()).map(|r| r.title()).collect();
    if !foreign.is_empty() {
        return Err(LoadError::Foreign { schema: inventory.schema, objects: foreign });
    }
    admin
        .execute(&create_sql(workload, &inventory.schema, &routines))
        .map_err(|error| LoadError::of(Phase::Routines, None, error))?;
    Ok(())
}

/// SQL that creates all of them, with their marks; one text is one transaction.
pub(crate) fn create_sql(workload: &dyn Workload, schema: &str, routines: &[Routine]) -> String {
    let mark = quote::literal(&stamp::mark(workload.meta().dataset, &identity(workload)));
    let one = |routine: &Routine| {
        let ddl = routine.ddl.trim_end().trim_end_matches(';');
        // The break ends a comment in the last line.
        format!("{ddl}\n; comment on routine {schema}.{} is {mark};\n", routine.signature)
    };
    routines.iter().map(one).collect()
}
