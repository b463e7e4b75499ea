//! Heads of the queues for locks, by `pg_blocking_pids`.
//!
//! That function locks all partitions of the lock table, so it is called for at most six sessions a second, and only in
//! seconds in which a session was seen waiting for a lock.

use super::source::{Every, From, Source};
use super::waits::kind;

pub(super) const SOURCE: Source = Source {
    of: pgdyno_samples::blockers::SOURCE,
    every: Every::SecondWithLocks,
    loses_rows: false,
    from: |traits| From::Text(from(&kind(traits.clients.as_deref()))),
};

/// Follows three sessions that have waited longest, and three of those that they wait for. Process 0 stands for prepared
/// transactions.
fn from(kind: &str) -> String {
    format!(
        "(WITH session AS MATERIALIZED (SELECT * FROM pg_stat_get_activity(NULL)), \
         waiting AS MATERIALIZED (SELECT pid FROM session WHERE wait_event_type = 'Lock' ORDER BY state_change LIMIT 3), \
         ahead AS MATERIALIZED (SELECT DISTINCT unnest(pg_blocking_pids(pid)) AS pid FROM waiting), \
         between AS MATERIALIZED (SELECT pid FROM session WHERE wait_event_type = 'Lock' \
           AND pid IN (SELECT pid FROM ahead) AND pid NOT IN (SELECT pid FROM waiting) LIMIT 3), \
         further AS MATERIALIZED (SELECT DISTINCT unnest(pg_blocking_pids(pid)) AS pid FROM between) \
         SELECT pid, {kind} AS backend_type, application_name, state, \
         greatest(extract(epoch FROM clock_timestamp() - state_change), 0) AS state_s, left(query, 1000) AS query \
         FROM session WHERE pid IN (SELECT pid FROM ahead UNION SELECT pid FROM further) \
         AND wait_event_type IS DISTINCT FROM 'Lock' AND pid <> pg_backend_pid() \
         UNION ALL SELECT 0, 'prepared transaction', CASE WHEN count(*) = 1 THEN min(gid) END, 'prepared', \
         extract(epoch FROM clock_timestamp() - min(prepared)), NULL FROM pg_prepared_xact() \
         WHERE 0 IN (SELECT pid FROM ahead UNION SELECT pid FROM further) HAVING count(*) > 0) AS head"
    )
}
