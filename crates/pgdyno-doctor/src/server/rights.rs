//! What this role may see and do.

use pgdyno_net::{Admin, AdminError};
use pgdyno_server::ServerFacts;

use super::ask;
use crate::finding::Finding;

const RIGHTS: &str = "SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), \
     pg_has_role('pg_read_all_stats', 'USAGE'), has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE'), \
     quote_ident(coalesce(current_schema(), 'public')), quote_ident(current_user)";
/// Who may order a checkpoint, beside superusers, from PostgreSQL 15 on.
const CHECKPOINT: &str = "SELECT pg_has_role('pg_checkpoint', 'USAGE')";

pub(super) fn check(admin: &mut Admin, facts: &ServerFacts) -> Result<Option<Finding>, AdminError> {
    let Some(row) = ask::row(admin, RIGHTS)? else { return Ok(None) };
    let [superuser, monitor, create] = [0, 1, 2].map(|nth| ask::text(&row, nth) == "t");
    let checkpoint = match ask::row(admin, CHECKPOINT)? {
        Some(row) if ask::text(&row, 0) == "t" => Checkpoint::Allowed,
        Some(_) => Checkpoint::ByRole,
        None => Checkpoint::BySuperuser,
    };
    let standby = facts.in_recovery == Some(true);
    let checkpoint = if standby { Checkpoint::Allowed } else { checkpoint };
    let rights = Rights { superuser, monitor, create: create || standby, checkpoint };
    Ok(Some(judge(rights, ask::text(&row, 3), ask::text(&row, 4))))
}

/// What a role may do, or need not.
#[derive(Clone, Copy)]
struct Rights {
    superuser: bool,
    monitor: bool,
    create: bool,
    checkpoint: Checkpoint,
}

/// Whether a role may order a checkpoint.
#[derive(Clone, Copy, PartialEq)]
enum Checkpoint {
    Allowed,
    /// If it is given the role `pg_checkpoint`.
    ByRole,
    /// Before PostgreSQL 15 only superusers may.
    BySuperuser,
}

fn judge(rights: Rights, schema: &str, role: &str) -> Finding {
    if rights.superuser {
        return Finding::passed("rights", "superuser");
    }
    let mut lacks = Vec::new();
    if !rights.monitor {
        lacks.push(("see other sessions and their waits".to_owned(), format!("GRANT pg_monitor TO {role}")));
    }
    let checkpoint = "order a checkpoint before the window";
    match rights.checkpoint {
        Checkpoint::Allowed => {}
        Checkpoint::ByRole => lacks.push((checkpoint.to_owned(), format!("GRANT pg_checkpoint TO {role}"))),
        Checkpoint::BySuperuser => {
            lacks.push((checkpoint.to_owned(), "let a superuser order one just before a run".to_owned()));
        }
    }
    if !rights.create {
        let what = format!("create tables and routines in schema {schema}");
        lacks.push((what, format!("GRANT CREATE ON SCHEMA {schema} TO {role}")));
    }
    if lacks.is_empty() {
        return Finding::passed("rights", "all that a run uses");
    }
    let (what, grants): (Vec<_>, Vec<_>) = lacks.into_iter().unzip();
    Finding::passed("rights", format!("this role may not {}", what.join(", nor "))).note(
        "A run leaves out what its role may not do and what only helps, and warns; without CREATE nothing can be loaded.",
        format!("{}.", grants.join("; ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn what_is_missing_is_named_with_its_grant() {
        let all = Rights { superuser: false, monitor: true, create: true, checkpoint: Checkpoint::Allowed };
        let of = |rights| judge(rights, "app", "bench");
        assert_eq!(of(all).severity, FindingSeverity::Passed);
        let superuser = Rights { superuser: true, monitor: false, create: false, checkpoint: Checkpoint::ByRole };
        assert_eq!(of(superuser).severity, FindingSeverity::Passed);
        let found = of(Rights { monitor: false, create: false, ..all });
        assert_eq!(
            found.figure,
            "this role may not see other sessions and their waits, nor create tables and routines in schema app"
        );
        let before_15 = of(Rights { checkpoint: Checkpoint::BySuperuser, ..all });
        assert_eq!(before_15.remedy, "let a superuser order one just before a run.");
        assert_eq!(found.remedy, "GRANT pg_monitor TO bench; GRANT CREATE ON SCHEMA app TO bench.");
    }
}
