//! What `pg_stat_replication` shows. A standby may come at any time, so it is always asked; the view itself looks at every
//! session, what is asked here only at those that send WAL.

use super::source::{Every, From, Source};

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::replication::SOURCE,
    every: Every::Second,
    loses_rows: false,
    from: |_| {
        From::Sql(
            "pg_stat_get_wal_senders() AS sender \
             CROSS JOIN LATERAL (SELECT application_name FROM pg_stat_get_activity(sender.pid)) AS session",
        )
    },
};
