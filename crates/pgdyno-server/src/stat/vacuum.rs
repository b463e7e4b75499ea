//! `pg_stat_progress_vacuum`: running vacuums of this database.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::vacuum::SOURCE,
    every: Every::Second,
    loses_rows: false,
    from: |_| {
        From::Sql(
            "pg_stat_progress_vacuum v JOIN pg_class c ON c.oid = v.relid JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE v.datname = current_database()",
        )
    },
};
