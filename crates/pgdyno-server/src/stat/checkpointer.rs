//! `pg_stat_checkpointer`; before PostgreSQL 17 what `pg_stat_bgwriter` tells of checkpoints.
//!
//! A checkpoint counts there when it begins or, from PostgreSQL 18 on, when it is done. That it is done is seen on all versions
//! by its position in the WAL, which the control file then has.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::checkpointer::SOURCE,
    every: Every::Second,
    loses_rows: false,
    from: |scene| {
        From::Sql(match scene.is_at_least(17) {
            true => "pg_stat_checkpointer, pg_control_checkpoint()",
            false => "pg_stat_bgwriter, pg_control_checkpoint()",
        })
    },
};
