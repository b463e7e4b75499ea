//! Counters of Citus on the queried node, summed over databases. Citus 13.1 and newer, with
//! `citus.enable_stat_counters`.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::citus::SOURCE,
    every: Every::Second,
    loses_rows: false,
    from: |traits| match traits.has_citus_counters {
        true => From::Sql("citus_stat_counters"),
        false => From::Nothing,
    },
};
