//! The workload's tables with a primary key, whose rows can be named.

use pgdyno_net::{AdminError, quote};

use super::session::Session;

/// Tables whose keys are read.
const TABLES: usize = 100;

/// A table with a primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyedTable {
    pub(super) oid: String,
    /// Its name as in SQL.
    pub(super) name: String,
    /// SQL expression for the text of its key.
    pub(super) key: String,
}

/// Returns those of `tables` that have a primary key.
pub(super) fn keyed(session: &mut Session, tables: &[String]) -> Result<Vec<KeyedTable>, AdminError> {
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<_> = tables.iter().take(TABLES).map(|name| quote::literal(&quote::identifier(name))).collect();
    let sql = format!(
        "SELECT indrelid, indrelid::regclass, \
         (SELECT string_agg(format('%L || %I', attname || ' = ', attname), ' || '', '' || ' ORDER BY nth) \
           FROM unnest(indkey::int2[]) WITH ORDINALITY AS part (attnum, nth) JOIN pg_attribute USING (attnum) \
           WHERE attrelid = indrelid) \
         FROM pg_index WHERE indisprimary AND indrelid IN (SELECT to_regclass(name) FROM unnest(ARRAY[{}]) AS name)",
        names.join(", ")
    );
    let rows = session.ask(&sql)?.unwrap_or_default();
    let of = |row: Vec<Option<String>>| {
        let [oid, name, key] = <[_; 3]>::try_from(row).ok()?;
        Some(KeyedTable { oid: oid?, name: name?, key: key? })
    };
    Ok(rows.into_iter().filter_map(of).collect())
}
