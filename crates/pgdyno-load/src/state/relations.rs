//! Tables in the catalog, with their partitions.

use pgdyno_net::{Admin, AdminError, TextRows, quote};
use pgdyno_workload::{Capabilities, DataSet};

use crate::load::distribute;

/// Returns a query for the OIDs of tables in a schema, quoted if necessary, and of all their partitions.
fn oids_sql(schema: &str, tables: &[&str]) -> String {
    let names: Vec<_> = tables.iter().map(|name| quote::literal(name)).collect();
    format!(
        "select coalesce(part.relid, c.oid) as oid from pg_class c left join lateral pg_partition_tree(c.oid) part on true \
         where c.relnamespace = {}::regnamespace and c.relname = any (array[{}]::name[])",
        quote::literal(schema),
        names.join(", ")
    )
}

/// Returns the bytes of the tables with their indexes and TOAST, on all nodes.
pub(crate) fn sizes(admin: &mut Admin, caps: &Capabilities, schema: &str, tables: &[&str]) -> Result<u64, AdminError> {
    let sum = admin.query_one(&sizes_sql(caps, schema, tables))?;
    Ok(sum.parse().unwrap_or_default())
}

fn sizes_sql(caps: &Capabilities, schema: &str, tables: &[&str]) -> String {
    let oids = oids_sql(schema, tables);
    match caps.distributed_tables {
        true => distribute::sizes_sql(&oids),
        false => format!("select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from ({oids}) t"),
    }
}

/// Returns the bytes of each of the workload's tables with its indexes, TOAST and partitions, on all nodes.
///
/// # Errors
/// When the server refuses, a table is locked for longer than a second, or the connection is lost.
pub fn table_sizes(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
) -> Result<Vec<(&'static str, u64)>, AdminError> {
    let Some(schema) = admin.query_opt("select quote_ident(current_schema())")? else { return Ok(Vec::new()) };
    let names: Vec<_> = data.tables(caps).into_iter().map(|table| table.name).collect();
    let each: Vec<_> = names.iter().map(|name| sizes_sql(caps, &schema, &[name])).collect();
    let sizes = admin.query_all(&format!("begin; set local lock_timeout = '1s'; {}", each.join("; ")));
    // The first error counts.
    let ended = admin.execute("rollback");
    let size = |rows: &TextRows| rows.rows.first()?.first()?.as_deref()?.parse().ok();
    let sizes = sizes.and_then(|sizes| ended.map(|_| sizes))?;
    Ok(names.into_iter().zip(sizes.iter().map(|rows| size(rows).unwrap_or_default())).collect())
}

/// Largest number of pages that PostgreSQL adds to a table at once for each session; since version 16 also for a
/// single session. Unused ones stay empty.
const PAGES_ADDED: usize = 64;

/// Returns tables and partitions with more than a few pages that are not all-visible, each in a sentence. They cost
/// index-only scans, and a VACUUM later. A few are normal: each of the `loaders` may leave some unused pages.
pub(crate) fn invisible(
    admin: &mut Admin,
    schema: &str,
    tables: &[&str],
    loaders: usize,
) -> Result<Vec<String>, AdminError> {
    let rows = admin.query(&format!(
        "select relname, relpages - relallvisible, relpages from pg_class join ({}) t using (oid) \
         where relallvisible < relpages * 0.95 - {} order by relname",
        oids_sql(schema, tables),
        PAGES_ADDED * loaders
    ))?;
    let sentence = |row: Vec<Option<String>>| {
        let [name, invisible, pages] =
            <[Option<String>; 3]>::try_from(row).unwrap_or_default().map(Option::unwrap_or_default);
        format!(
            "{invisible} of {pages} pages of table {name} are not all-visible: another session held an old snapshot, or \
             the server does not freeze on COPY; VACUUM it before a run"
        )
    };
    Ok(rows.rows.into_iter().map(sentence).collect())
}

/// Returns the tables that hold rows of `table`, a name in SQL, and are logged or not: itself, or its partitions.
fn with_persistence(admin: &mut Admin, table: &str, unlogged: bool) -> Result<Vec<String>, AdminError> {
    let table = format!("{}::regclass", quote::literal(table));
    let rows = admin.query(&format!(
        "select oid::regclass from pg_class where relkind = 'r' and relpersistence = '{}' \
         and (oid = {table} or oid in (select relid from pg_partition_tree({table}))) order by oid",
        if unlogged { 'u' } else { 'p' }
    ))?;
    Ok(rows.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}

/// Returns true if a crash of the server would empty a table or one of its partitions.
pub(crate) fn is_unlogged(admin: &mut Admin, table: &str) -> Result<bool, AdminError> {
    Ok(!with_persistence(admin, table, true)?.is_empty())
}

/// Makes a table and its partitions unlogged, or logged.
pub(crate) fn set_unlogged(admin: &mut Admin, table: &str, unlogged: bool) -> Result<(), AdminError> {
    for name in with_persistence(admin, table, !unlogged)? {
        admin.execute(&format!("alter table {name} set {}", if unlogged { "unlogged" } else { "logged" }))?;
    }
    Ok(())
}
