//! `pg_stat_database` of the measured database.

use super::source::{Every, From, Source};

/// The row of the session's database.
pub(crate) const FROM: &str = "pg_stat_database WHERE datname = current_database()";

pub(crate) const SOURCE: Source =
    Source { of: pgdyno_samples::database::SOURCE, every: Every::Second, loses_rows: false, from: |_| From::Sql(FROM) };
