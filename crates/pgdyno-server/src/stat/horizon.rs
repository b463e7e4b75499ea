//! Holders of the oldest snapshots and transactions, of which three are kept.
//!
//! Sessions of other databases do not hold back this one's rows, WAL senders of standbys with `hot_standby_feedback` and slots
//! do. Snapshots that are old because of a user's running transaction come after that. A vacuum's own snapshot holds back nothing. `catalog_xmin` of slots is left out: it keeps rows of catalogs only.

use super::source::{Every, From, Source};
use super::waits::kind;

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::horizon::SOURCE,
    every: Every::TwoSeconds,
    loses_rows: false,
    from: |traits| From::Text(from(&kind(traits.clients.as_deref()))),
};

fn from(kind: &str) -> String {
    format!(
        "(SELECT holder, pid, name, xmin, age(xmin) AS age, state, held_s, query FROM (\
         SELECT {kind} AS holder, pid, application_name AS name, \
         CASE WHEN is_snapshot THEN backend_xmin ELSE backend_xid END AS xmin, is_snapshot, \
         state, greatest(extract(epoch FROM clock_timestamp() - xact_start), 0) AS held_s, left(query, 1000) AS query \
         FROM (SELECT *, backend_xid IS NULL OR coalesce(age(backend_xmin) > age(backend_xid), false) AS is_snapshot \
           FROM pg_stat_get_activity(NULL)) AS session WHERE pid <> pg_backend_pid() \
         AND (backend_type = 'walsender' OR datid = (SELECT oid FROM pg_database WHERE datname = current_database())) \
         AND backend_type IS DISTINCT FROM 'autovacuum worker' AND query !~* '^[[:space:]]*vacuum' \
         UNION ALL SELECT 'prepared transaction', NULL, gid, transaction, false, 'prepared', \
         extract(epoch FROM clock_timestamp() - prepared), NULL FROM pg_prepared_xact() \
         WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
         UNION ALL SELECT 'replication slot', active_pid, slot_name::text, xmin, true, \
         CASE WHEN active THEN 'active' ELSE 'inactive' END, NULL, NULL FROM pg_get_replication_slots()) AS held \
         WHERE xmin IS NOT NULL ORDER BY age(xmin) DESC, is_snapshot, held_s DESC LIMIT 3) AS holder"
    )
}
