//! Data that a killed run has left half changed.

use pgdyno_net::Admin;
use pgdyno_workload::DataSet;

use super::access::DataAccess;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::target::{lock, reach};

/// Completes or undoes a change of the data that an earlier run was killed in.
pub(crate) fn repair(access: &DataAccess<'_>, admin: &mut Admin, data: &dyn DataSet) -> Result<()> {
    if access.caps.standby || !data.meta().has_data() {
        return Ok(());
    }
    let interrupted = pgdyno_load::interrupted_change(admin, data).or_fail(Code::Load)?;
    let Some(repair) = interrupted else { return Ok(()) };
    let mut unknown = None;
    // A run in another database changes nothing here.
    let other = lock::other_run_here(admin, &mut |warning| unknown = Some(warning))?;
    if let Some(why) = unknown {
        let error = format!("a killed run left the data of {} half changed: {why}", data.meta().id);
        let hint = "run again as a role that sees pg_locks and pg_stat_activity, or load the data again with --replace";
        return Err(CommandError::new(Code::Start, error).hint(hint));
    }
    if let Some(other) = other {
        let error = format!("the data of {} is being changed: {other} measures this database", data.meta().id);
        return Err(CommandError::new(Code::Start, error).hint("wait until that run ends"));
    }
    reach::admit_change(access.caps, "this repair of half changed data")?;
    access.events.note(&repair.what);
    pgdyno_load::repair(admin, &repair).map_err(|error| {
        CommandError::new(Code::Load, format!("{}: {error}", repair.what))
            .hint("run again, or load the data again with --replace; nothing has changed")
    })
}
