//! Rows that sessions wait for, by the primary keys of the workload's tables.
//!
//! A session that waits for a row holds or awaits a lock of type `tuple` on the version that it wants to change. Its
//! transaction has not ended, so the snapshot of this statement still sees that version and can read its key. A version that
//! was replaced meanwhile counts without a key. Keys of other tables may be somebody's data and are not read.

use pgdyno_net::{AdminError, quote};

use super::scene::Scene;
use super::session::Session;
use super::source::{Every, From, Source};

/// Rows with the longest queues at one look.
const ROWS: usize = 10;
/// Tables whose keys are read.
const TABLES: usize = 100;

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::row_locks::SOURCE,
    every: Every::SecondWithRowLocks,
    loses_rows: false,
    from: |scene| match scene.keyed.is_empty() {
        true => From::Nothing,
        false => From::Text(from(scene)),
    },
};

/// A table with a primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keyed {
    oid: String,
    /// Its name as in SQL.
    name: String,
    /// SQL expression for the text of its key.
    key: String,
}

/// Returns those of `tables` that have a primary key.
pub(super) fn keyed(session: &mut Session, tables: &[String]) -> Result<Vec<Keyed>, AdminError> {
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
        Some(Keyed { oid: oid?, name: name?, key: key? })
    };
    Ok(rows.into_iter().filter_map(of).collect())
}

fn from(scene: &Scene) -> String {
    let key =
        |Keyed { oid, name, key }: &Keyed| format!("WHEN {oid} THEN (SELECT {key} FROM {name} WHERE ctid = place)");
    let keys: Vec<_> = scene.keyed.iter().map(key).collect();
    format!(
        "(SELECT relation, row_key, sum(waiting) AS waiting, max(waiting_for_any) AS waiting_for_any FROM (\
         SELECT relation::regclass AS relation, CASE relation::oid {} END AS row_key, waiting, waiting_for_any FROM (\
         SELECT relation, format('(%s,%s)', page, tuple)::tid AS place, count(*) AS waiting, \
         sum(count(*)) OVER () AS waiting_for_any FROM pg_locks WHERE locktype = 'tuple' \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
         GROUP BY relation, page, tuple ORDER BY count(*) DESC LIMIT {ROWS}) AS queue) AS named GROUP BY 1, 2) AS row_lock",
        keys.join(" ")
    )
}
