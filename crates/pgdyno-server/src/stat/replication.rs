//! `pg_stat_replication`. A standby may connect at any time, so it is always queried; the view itself reads every
//! session, this query only those that send WAL.

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
