//! `pg_stat_database` of the database that is measured.

use super::source::{Every, From, Source};

/// The row of the database that the session is in.
pub(crate) const FROM: &str = "pg_stat_database WHERE datname = current_database()";

pub(crate) const SOURCE: Source =
    Source { of: pgdyno_samples::database::SOURCE, every: Every::Second, loses_rows: false, from: |_| From::Sql(FROM) };
