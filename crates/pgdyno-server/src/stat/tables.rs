//! `pg_stat_user_tables`, and how large tables and their indexes are.

use super::source::{Every, From, Source};

/// A look at one table takes some tens of microseconds.
const MOST: u64 = 500;

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::tables::SOURCE,
    every: Every::TenSeconds,
    loses_rows: true,
    from: |scene| match scene.tables {
        ..=MOST => From::Sql("pg_stat_user_tables"),
        tables => {
            From::LeftOut(format!("the database has {tables} tables: more than {MOST} would take too long to look at"))
        }
    },
};
