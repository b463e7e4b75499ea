//! What `pg_stat_replication` shows. A standby may come at any time, so it is always asked; the view itself looks at every
//! session, what is asked here only at those that send WAL.

use super::source::{Column, Every, From, Source, names, value};

const COLUMNS: [Column; 7] = [
    value("application_name"),
    value("state"),
    value("sync_state"),
    value("write_lag_s").as_sql("extract(epoch FROM write_lag)"),
    value("flush_lag_s").as_sql("extract(epoch FROM flush_lag)"),
    value("replay_lag_s").as_sql("extract(epoch FROM replay_lag)"),
    value("lag_bytes").as_sql(
        "pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, \
         replay_lsn)",
    ),
];

pub(super) const SOURCE: Source = Source {
    name: "replication",
    every: Every::Second,
    columns: &COLUMNS,
    names: &names(&COLUMNS),
    from: |_| {
        From::Sql(
            "pg_stat_get_wal_senders() AS sender \
             CROSS JOIN LATERAL (SELECT application_name FROM pg_stat_get_activity(sender.pid)) AS session",
        )
    },
};
