//! `pg_stat_user_tables`, and the sizes of tables and their indexes.

use super::source::{Every, From, Source};

/// A look at one table takes tens of microseconds.
const MOST: u64 = 500;

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::tables::SOURCE,
    every: Every::TenSeconds,
    loses_rows: true,
    from: |traits| match traits.tables {
        ..=MOST => From::Sql("pg_stat_user_tables"),
        tables => From::LeftOut(format!("the database has {tables} tables: more than {MOST} take too long to sample")),
    },
};
