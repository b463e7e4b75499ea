//! `pg_stat_bgwriter`, without its columns for checkpoints before PostgreSQL 17.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::bgwriter::SOURCE,
    every: Every::Second,
    loses_rows: false,
    from: |_| From::Sql("pg_stat_bgwriter"),
};
