//! Whether the role may write to the tables of a workload that writes.

use pgdyno_load::steps::WRITE;
use pgdyno_net::{Admin, quote};
use pgdyno_workload::{Capabilities, Workload};

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};

/// Refuses a workload that writes if the role may write to none of its tables. Routines may have other rights than the role.
///
/// # Errors
/// When it may not.
pub(crate) fn admit(admin: &mut Admin, workload: &Workload, caps: &Capabilities) -> Result<()> {
    if workload.drive.is_read_only() {
        return Ok(());
    }
    for data in workload.data.iter().filter(|data| data.routines(caps).list.is_empty() && data.sql_data().is_none()) {
        let names: Vec<_> = data.tables(caps).iter().map(|table| quote::literal(table.name)).collect();
        let sql = format!(
            "select string_agg(oid::regclass::text, ', '), quote_ident(current_user::text) from pg_class \
             where relnamespace = (select oid from pg_namespace where nspname = current_schema()) \
             and relname = any (array[{}]::name[]) \
             having not bool_or(has_table_privilege(oid, 'insert, update, delete'))",
            names.join(", ")
        );
        // If that is not known, the transactions show it.
        let Ok(rows) = admin.query(&sql) else { continue };
        let Some([Some(tables), role]) = rows.rows.into_iter().next().and_then(|row| <[_; 2]>::try_from(row).ok())
        else {
            continue;
        };
        let role = role.unwrap_or_default();
        let id = workload.meta.id;
        let error = format!("failed to {}: role {role} may write to none of the tables of {id}", WRITE.name);
        return Err(CommandError::new(Code::Start, error).hint(format!(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {role}, or run a workload that only reads"
        )));
    }
    Ok(())
}
