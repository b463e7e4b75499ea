//! Procedures and functions.

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Capabilities, DataSet, Routine};

use crate::load::distribute;
use crate::state::inventory::Inventory;
use crate::state::object::Object;
use crate::state::{layout, stamp, taken};
use crate::{LoadError, LoadPhase};

/// Creates or replaces the workload's routines if they are missing or differ: an older pgdyno may have loaded correct
/// data with outdated procedures. Drops routines of pgdyno with the same names and other arguments. All in one
/// transaction. Does not touch the data, nor routines of other names: another run may be calling them. If nothing
/// differs it writes nothing, so that a role with EXECUTE alone is enough.
///
/// # Errors
/// [`LoadError::Foreign`] when one of them belongs to another program, [`LoadError::Routines`] when they differ and
/// the role may not replace them.
pub fn refresh_routines(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<(), LoadError> {
    let routines = data.routines(caps).list;
    if routines.is_empty() {
        return Ok(());
    }
    let inventory = Inventory::take(admin, data, caps)?;
    if let Some(taken) = taken::taken(admin, &inventory, data)? {
        return Err(LoadError::Taken(Box::new(taken)));
    }
    let foreign: Vec<_> = inventory.routines.iter().filter(|r| r.is_foreign()).map(|r| r.title()).collect();
    if !foreign.is_empty() {
        return Err(inventory.refusal(foreign));
    }
    let wanted = names(admin, &inventory.schema, &routines).map_err(LoadError::Catalog)?;
    let ours =
        inventory.routines.iter().filter(|found| routines.iter().any(|r| name(r.signature) == name(&found.name)));
    let (same, others): (Vec<_>, Vec<_>) = ours.partition(|found| wanted.contains(&found.sql));
    // PostgreSQL's catalog does not show whether they are distributed.
    let may_stay = others.is_empty() && !caps.distributed_tables;
    if may_stay
        && are_installed(admin, &inventory.schema, &routines).map_err(LoadError::Catalog)?
        && !layout::routines_differ(admin, data, caps)?
    {
        return Ok(());
    }
    let drop = |objects: &[&Object]| objects.iter().map(|o| format!("drop routine {};\n", o.sql)).collect::<String>();
    let create = create_sql(data, caps, &inventory.schema, &routines);
    let replaced = admin.execute(&(drop(&others) + &create));
    let done = match replaced {
        // A routine of another kind or result cannot be replaced.
        Err(error) if error.code().is_some_and(|code| matches!(code.as_str(), "42809" | "42P13")) => {
            admin.execute(&(drop(&others) + &drop(&same) + &create))
        }
        done => done,
    };
    done.map_err(|error| match error.code() {
        Some(SqlState::INSUFFICIENT_PRIVILEGE) => LoadError::Routines { source: error },
        _ => LoadError::of(LoadPhase::Routines, None, error),
    })?;
    layout::note_routines(admin, data, caps)
}

/// Returns true if each routine exists, with its kind and its body.
fn are_installed(admin: &mut Admin, schema: &str, routines: &[Routine]) -> Result<bool, AdminError> {
    let rows = admin.query(&format!(
        "select p.prokind, p.prosrc from unnest(array[{}]::text[]) with ordinality as s (signature, n) \
         left join pg_proc p on p.oid = to_regprocedure(s.signature)::oid order by n",
        signatures(schema, routines)
    ))?;
    let as_wanted = |(row, routine): (&Vec<Option<String>>, &Routine)| {
        let kind = if routine.ddl.contains(" PROCEDURE ") { "p" } else { "f" };
        let body = body(&routine.ddl);
        body.is_some() && row[0].as_deref() == Some(kind) && row[1].as_deref() == body
    };
    Ok(rows.rows.len() == routines.len() && rows.rows.iter().zip(routines).all(as_wanted))
}

/// Returns the text between the dollar quotes.
fn body(ddl: &str) -> Option<&str> {
    let (_, rest) = ddl.split_once("$$")?;
    Some(rest.rsplit_once("$$")?.0)
}

/// Returns the names and types of the routines, as elements of an SQL array.
fn signatures(schema: &str, routines: &[Routine]) -> String {
    let literal = |routine: &Routine| quote::literal(&format!("{schema}.{}", routine.signature));
    routines.iter().map(literal).collect::<Vec<_>>().join(", ")
}

/// Returns the name in a signature.
fn name(signature: &str) -> &str {
    signature.split('(').next().unwrap_or(signature)
}

/// Returns the routines that exist, by their names in the inventory.
fn names(admin: &mut Admin, schema: &str, routines: &[Routine]) -> Result<Vec<String>, AdminError> {
    let rows = admin.query(&format!(
        "select quote_ident(p.proname) || '(' || coalesce((select string_agg(format_type(t, null), ', ' order by n) \
         from unnest(p.proargtypes) with ordinality as u (t, n)), '') || ')' from pg_proc p \
         where p.oid = any (array(select to_regprocedure(s)::oid from unnest(array[{}]::text[]) s))",
        signatures(schema, routines)
    ))?;
    let found = rows.rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    Ok(found.map(|name| format!("{schema}.{name}")).collect())
}

/// Returns SQL that creates all of them, with their marks; one text is one transaction.
pub(crate) fn create_sql(data: &dyn DataSet, caps: &Capabilities, schema: &str, routines: &[Routine]) -> String {
    let mark = stamp::mark_sql(data);
    let one = |routine: &Routine| {
        let ddl = routine.ddl.trim_end().trim_end_matches(';');
        let spread = distribute::routine_sql(caps, schema, schema, routine);
        let spread = spread.map_or_else(String::new, |sql| format!("{sql};\n"));
        // The line break ends a comment in the last line.
        format!("{ddl}\n; comment on routine {schema}.{} is {mark};\n{spread}", routine.signature)
    };
    routines.iter().map(one).collect()
}
