//! Routines in a schema of their own, for tables of another program.

use pgdyno_net::{Admin, quote};
use pgdyno_wire::SqlState;
use pgdyno_workload::{Capabilities, DataSet, Routine};
use sha2::{Digest as _, Sha256};

use crate::load::distribute;
use crate::state::stamp;
use crate::{LoadError, LoadPhase};

/// Brings the schema of the workload's routines up to date; creates it if it does not exist. The routines find the
/// tables by the session's search_path. Nothing outside of that schema is changed, and a schema of this name that
/// pgdyno did not create is left alone. Returns true if anything was created.
///
/// # Errors
/// [`LoadError::OtherSchema`] when the schema belongs to another program; [`LoadError::NoPlace`] when the role may
/// not create it.
pub fn place_routines(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
    schema: &'static str,
) -> Result<bool, LoadError> {
    let routines = data.routines(caps).list;
    if routines.is_empty() {
        return Ok(false);
    }
    let found = mark(admin, schema)?;
    let wanted = mark_of(data, caps, &routines);
    match &found {
        Found::Ours(mark) if *mark == wanted => return Ok(false),
        Found::Theirs => return Err(LoadError::OtherSchema { schema }),
        Found::Ours(_) | Found::Nothing => {}
    }
    let tables = admin.query_opt("select quote_ident(current_schema())").map_err(LoadError::Catalog)?;
    let Some(tables) = tables else { return Err(LoadError::no_schema(admin)) };
    // One text is one transaction. Routines of an older pgdyno may have another kind or result.
    let mut sql = match found {
        Found::Nothing => format!("create schema {schema};\n"),
        _ => drop_sql(admin, schema)?,
    };
    sql += &format!("comment on schema {schema} is {};\nset local search_path = {schema};\n", quote::literal(&wanted));
    for routine in &routines {
        let ddl = routine.ddl.trim_end().trim_end_matches(';');
        sql += &format!("{ddl}\n;\n");
        sql += &distribute::routine_sql(caps, &tables, schema, routine).map_or_else(String::new, |sql| sql + ";\n");
    }
    admin.execute(&sql).map_err(|source| match source.code() {
        Some(SqlState::INSUFFICIENT_PRIVILEGE) => LoadError::NoPlace { schema, source },
        _ => LoadError::of(LoadPhase::Routines, None, source),
    })?;
    Ok(true)
}

/// Within a transaction: drops the schema of the workload's routines, if pgdyno created it. Returns true if it
/// existed.
pub(crate) fn drop_schema(admin: &mut Admin, schema: &str) -> Result<bool, LoadError> {
    let Found::Ours(_) = mark(admin, schema)? else { return Ok(false) };
    let sql = drop_sql(admin, schema)? + &format!("drop schema {schema}");
    admin.execute(&sql).map_err(LoadError::Catalog)?;
    Ok(true)
}

/// Creator of a schema.
enum Found {
    Nothing,
    /// pgdyno, with this mark.
    Ours(String),
    Theirs,
}

fn mark(admin: &mut Admin, schema: &str) -> Result<Found, LoadError> {
    let sql = format!(
        "select coalesce(obj_description(oid, 'pg_namespace'), '') from pg_namespace where nspname = {}",
        quote::literal(schema)
    );
    Ok(match admin.query_opt(&sql).map_err(LoadError::Catalog)? {
        None => Found::Nothing,
        Some(comment) if comment.starts_with(stamp::MARK) => Found::Ours(comment),
        Some(_) => Found::Theirs,
    })
}

/// Returns the comment on the schema, which identifies the version of the routines.
fn mark_of(data: &dyn DataSet, caps: &Capabilities, routines: &[Routine]) -> String {
    let mut hash = Sha256::new();
    for routine in routines {
        hash.update(routine.signature);
        hash.update(&routine.ddl);
    }
    hash.update([u8::from(caps.distributed_tables)]);
    stamp::mark(data.meta().dataset, &pgdyno_text::hex(&hash.finalize()[..8]))
}

/// Returns SQL that drops the routines of a schema of pgdyno, and nothing else.
fn drop_sql(admin: &mut Admin, schema: &str) -> Result<String, LoadError> {
    let rows = admin
        .query(&format!(
            "select oid::regprocedure from pg_proc where pronamespace = {}::regnamespace and proname like 'pgdyno\\_%'",
            quote::literal(schema)
        ))
        .map_err(LoadError::Catalog)?;
    let names = rows.rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    Ok(names.map(|name| format!("drop routine {name};\n")).collect())
}
