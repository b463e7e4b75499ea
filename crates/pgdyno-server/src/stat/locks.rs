//! Who waits for locks. One look at `pg_locks` holds all partitions of the lock table, so it is left out while nobody waits.

use super::source::{Column, Every, From, Source, names, value};

const COLUMNS: [Column; 5] = [
    value("locktype"),
    value("mode"),
    value("relation").as_sql("relation::regclass AS relation"),
    value("waiting").as_sql("count(*)"),
    value("longest_wait_s").as_sql("extract(epoch FROM max(clock_timestamp() - waitstart))").since(14),
];

pub(super) const SOURCE: Source = Source {
    name: "locks",
    every: Every::SecondWithLocks,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |_| From::Sql("pg_locks WHERE NOT granted GROUP BY 1, 2, 3"),
};
