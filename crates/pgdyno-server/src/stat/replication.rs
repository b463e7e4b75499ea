//! `pg_stat_replication`, where there is a standby when the run begins.

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
    from: |scene| match scene.standbys {
        0 => From::Nothing,
        _ => From::Sql("pg_stat_replication"),
    },
};
