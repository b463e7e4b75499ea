//! Relations and routines of the current schema, from the catalog.

use pgdyno_net::{Admin, AdminError, TextRows, quote};

use crate::state::object::Object;
use crate::state::stamp;

/// Returns relations of these names and routines of these signatures, and those with the mark of a data set.
pub(crate) fn both(
    admin: &mut Admin,
    dataset: &str,
    (names, signatures): (&[&str], &[&str]),
    schema: &str,
) -> Result<(Vec<Object>, Vec<Object>), AdminError> {
    let sql = format!("{}; {}", relations_sql(dataset, names), routines_sql(dataset, signatures, schema));
    let mut found = admin.query_all(&sql)?.into_iter();
    let (relations, routines) = (found.next().unwrap_or_default(), found.next().unwrap_or_default());
    Ok((relations_of(relations, dataset, schema), routines_of(routines, dataset, schema)))
}

fn relations_sql(dataset: &str, names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| quote::literal(name)).collect();
    format!(
        "select c.relname, quote_ident(c.relname), d.description, c.relkind from pg_class c \
         left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0 \
         where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) \
         and (c.relname = any (array[{}]::name[]) or d.description like {}) order by 1",
        names.join(", "),
        quote::literal(&stamp::mark_pattern(dataset)),
    )
}

fn relations_of(rows: TextRows, dataset: &str, schema: &str) -> Vec<Object> {
    let object = |[name, sql, comment, kind]: [Option<String>; 4]| Object {
        kind: match kind.as_deref() {
            Some("v") => "view",
            Some("m") => "materialized view",
            Some("f") => "foreign table",
            Some("S") => "sequence",
            Some("i" | "I") => "index",
            Some("c") => "type",
            _ => "table",
        },
        name: name.unwrap_or_default(),
        sql: format!("{schema}.{}", sql.unwrap_or_default()),
        identity: identity(comment.as_deref(), dataset),
        owner: owner_in(comment.as_deref(), dataset),
    };
    // Another server than PostgreSQL may return anything.
    rows.rows.into_iter().filter_map(|row| row.try_into().ok()).map(object).collect()
}

fn routines_sql(dataset: &str, signatures: &[&str], schema: &str) -> String {
    let signatures: Vec<_> = signatures.iter().map(|s| quote::literal(&format!("{schema}.{s}"))).collect();
    format!(
        "select p.proname || a.types, quote_ident(p.proname) || a.types, d.description from pg_proc p \
         cross join lateral (select '(' || coalesce(string_agg(format_type(t, null), ', ' order by n), '') || ')' \
         from unnest(p.proargtypes) with ordinality as u (t, n)) as a (types) \
         left join pg_description d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass and d.objsubid = 0 \
         where p.pronamespace = (select oid from pg_namespace where nspname = current_schema()) \
         and (p.oid = any (array(select to_regprocedure(s)::oid from unnest(array[{}]::text[]) s)) \
         or d.description like {}) order by 1",
        signatures.join(", "),
        quote::literal(&stamp::mark_pattern(dataset)),
    )
}

fn routines_of(rows: TextRows, dataset: &str, schema: &str) -> Vec<Object> {
    let object = |[name, sql, comment]: [Option<String>; 3]| Object {
        kind: "routine",
        name: name.unwrap_or_default(),
        sql: format!("{schema}.{}", sql.unwrap_or_default()),
        identity: identity(comment.as_deref(), dataset),
        owner: owner_in(comment.as_deref(), dataset),
    };
    rows.rows.into_iter().filter_map(|row| row.try_into().ok()).map(object).collect()
}

fn identity(comment: Option<&str>, dataset: &str) -> Option<String> {
    stamp::marked(comment?, dataset).map(str::to_owned)
}

/// Returns the other data set that a comment names.
fn owner_in(comment: Option<&str>, dataset: &str) -> Option<String> {
    stamp::dataset_of(comment?).filter(|owner| *owner != dataset).map(str::to_owned)
}
