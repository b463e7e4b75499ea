//! What this role may see and do.

use pgdyno_net::{Admin, AdminError};
use pgdyno_server::ServerFacts;

use super::ask;
use crate::finding::Finding;

const RIGHTS: &str = "SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), \
     pg_has_role('pg_monitor', 'member'), has_database_privilege(current_database(), 'CREATE'), \
     has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE')";
/// Who may order a checkpoint, beside superusers, from PostgreSQL 15 on.
const CHECKPOINT: &str = "SELECT pg_has_role('pg_checkpoint', 'member')";

pub(super) fn check(admin: &mut Admin, facts: &ServerFacts) -> Result<Option<Finding>, AdminError> {
    let Some(row) = ask::row(admin, RIGHTS)? else { return Ok(None) };
    let [superuser, monitor, create, create_here] = [0, 1, 2, 3].map(|nth| ask::text(&row, nth) == "t");
    let checkpoint = ask::row(admin, CHECKPOINT)?.is_some_and(|row| ask::text(&row, 0) == "t");
    let standby = facts.in_recovery == Some(true);
    Ok(Some(judge(superuser, monitor, (create || create_here) && !standby, checkpoint, standby)))
}

fn judge(superuser: bool, monitor: bool, create: bool, checkpoint: bool, standby: bool) -> Finding {
    if superuser {
        return Finding::passed("rights", "superuser");
    }
    let mut lacks = Vec::new();
    if !monitor {
        lacks.push(("see other sessions and their waits", "GRANT pg_monitor"));
    }
    if !checkpoint && !standby {
        lacks.push(("order a checkpoint before the window", "GRANT pg_checkpoint (15 and later)"));
    }
    if !create && !standby {
        lacks.push(("create tables and routines in this database", "GRANT CREATE ON SCHEMA"));
    }
    if lacks.is_empty() {
        return Finding::passed("rights", "all that a run uses");
    }
    let (what, grants): (Vec<_>, Vec<_>) = lacks.into_iter().unzip();
    Finding::passed("rights", format!("this role may not {}", what.join(", nor "))).note(
        "A run leaves out what its role may not do and what only helps, and warns; without CREATE nothing can be loaded.",
        format!("{} to this role.", grants.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn what_is_missing_is_named_with_its_grant() {
        assert_eq!(judge(true, false, false, false, false).severity, FindingSeverity::Passed);
        assert_eq!(judge(false, true, true, true, false).severity, FindingSeverity::Passed);
        let found = judge(false, false, true, true, false);
        assert_eq!(found.figure, "this role may not see other sessions and their waits");
        assert_eq!(found.remedy, "GRANT pg_monitor to this role.");
        // On a standby nobody creates tables.
        assert_eq!(judge(false, true, false, false, true).severity, FindingSeverity::Passed);
    }
}
