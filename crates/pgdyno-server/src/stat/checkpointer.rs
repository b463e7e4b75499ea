//! `pg_stat_checkpointer`; before PostgreSQL 17 the columns of `pg_stat_bgwriter` for checkpoints.
//!
//! A checkpoint counts there when it begins or, since PostgreSQL 18, when it is complete. In all versions its WAL
//! position in the control file shows that it is complete.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::checkpointer::SOURCE,
    every: Every::Second,
    loses_rows: false,
    from: |traits| {
        From::Sql(match traits.is_at_least(17) {
            true => "pg_stat_checkpointer, pg_control_checkpoint()",
            false => "pg_stat_bgwriter, pg_control_checkpoint()",
        })
    },
};
