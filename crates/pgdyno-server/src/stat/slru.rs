//! `pg_stat_slru`: the buffers of transaction states, subtransactions and multixacts.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::slru::SOURCE,
    every: Every::TwoSeconds,
    loses_rows: false,
    from: |_| From::Sql("pg_stat_slru"),
};
