//! Rows that sessions wait for, by the primary keys of the workload's tables.
//!
//! A session that waits for a row holds or awaits a lock of type `tuple` on the version that it wants to change. Its
//! transaction has not ended, so the snapshot of this statement still sees that version and can read its key. A version that
//! was replaced meanwhile counts without a key. Keys of other tables may be a user's data and are not read.

use super::keyed_tables::KeyedTable;
use super::source::{Every, From, Source};
use super::traits::ServerTraits;

/// Rows with the longest queues at one look.
const ROWS: usize = 10;
pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::row_locks::SOURCE,
    every: Every::SecondWithRowLocks,
    loses_rows: false,
    from: |traits| match traits.keyed.is_empty() {
        true => From::Nothing,
        false => From::Text(from(traits)),
    },
};

fn from(traits: &ServerTraits) -> String {
    let key = |KeyedTable { oid, name, key }: &KeyedTable| {
        format!("WHEN {oid} THEN (SELECT {key} FROM {name} WHERE ctid = place)")
    };
    let keys: Vec<_> = traits.keyed.iter().map(key).collect();
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
