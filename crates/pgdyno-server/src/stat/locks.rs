//! Waits for locks. A query of `pg_locks` locks all partitions of the lock table, so it is skipped while no session
//! waits.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::locks::SOURCE,
    every: Every::SecondWithLocks,
    loses_rows: false,
    from: |_| From::Sql("pg_locks WHERE NOT granted GROUP BY 1, 2, 3"),
};
