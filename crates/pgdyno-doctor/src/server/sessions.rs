//! What others do on the server now.

use pgdyno_net::{Admin, AdminError};

use super::ask::{self, Row};
use crate::finding::Finding;

/// Other client sessions; `pg_stat_activity` hides the state of other roles' sessions from roles without pg_read_all_stats.
const SESSIONS: &str = "SELECT count(*), count(*) FILTER (WHERE state = 'active'), \
     count(*) FILTER (WHERE state LIKE 'idle in transaction%'), \
     coalesce(extract(epoch FROM max(now() - xact_start)), 0)::bigint, count(*) FILTER (WHERE state IS NULL) \
     FROM pg_stat_activity WHERE (backend_type = 'client backend' OR backend_type IS NULL AND datid IS NOT NULL) \
     AND pid <> pg_backend_pid()";
/// Work of the server that ends some time.
const MAINTENANCE: &str = "SELECT backend_type, query FROM pg_stat_activity WHERE backend_type = 'autovacuum worker' \
     OR query ~* '^[[:space:]]*(vacuum|analyze|create[[:space:]]+(unique[[:space:]]+)?index|reindex|cluster|copy|base_backup)' \
     AND state = 'active' \
     AND pid <> pg_backend_pid()";
/// The age of the oldest snapshot that holds back vacuum in this database, in transactions: not that of a vacuum, nor of a session in
/// another database.
const HORIZON: &str = "SELECT coalesce(max(age(backend_xmin)), 0) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
     AND (backend_type = 'walsender' OR datname = current_database()) \
     AND backend_type IS DISTINCT FROM 'autovacuum worker' AND query !~* '^[[:space:]]*vacuum'";
/// A transaction that is open for longer than this keeps dead rows, in seconds.
const LONG_S: f64 = 60.0;
/// A snapshot that is older than this keeps many dead rows, in transactions.
const OLD: f64 = 100_000.0;

pub(super) fn check(admin: &mut Admin) -> Result<Vec<Finding>, AdminError> {
    let mut found = Vec::new();
    if let Some(row) = ask::row(admin, SESSIONS)? {
        found.push(sessions(&row));
    }
    if let Some(rows) = ask::rows(admin, MAINTENANCE)? {
        found.push(maintenance(&rows));
    }
    if let Some(row) = ask::row(admin, HORIZON)? {
        let age = ask::number(&row, 0);
        let snapshot =
            Finding::passed("oldest-snapshot", format!("{age:.0} transactions old")).measured(age, "transactions");
        found.push(if age > OLD {
            snapshot.warning(
                "Rows that died since then cannot be removed: updates find more and more of them.",
                "End the session that holds it, unless it is a vacuum: SELECT pid, backend_type, query FROM pg_stat_activity WHERE \
                 datname = current_database() OR backend_type = 'walsender' ORDER BY age(backend_xmin) DESC NULLS LAST.",
            )
        } else {
            snapshot
        });
    }
    Ok(found)
}

fn sessions(row: &Row) -> Finding {
    let [all, active, in_transaction, oldest_s, hidden] = [0, 1, 2, 3, 4].map(|nth| ask::number(row, nth));
    let mut figure = format!("{all:.0} others, {active:.0} active, {in_transaction:.0} idle in transaction");
    if hidden > 0.0 {
        figure += &format!(", {hidden:.0} hidden from this role");
    }
    let found = Finding::passed("other-sessions", figure).measured(active, "sessions");
    if in_transaction > 0.0 && oldest_s > LONG_S {
        found.warning(
            format!(
                "A transaction has been open for {oldest_s:.0} s: it keeps its locks, and dead rows cannot be removed."
            ),
            "End it, or let its program commit.",
        )
    } else if active > 0.0 {
        found.warning(
            "Others use the server now: they take CPU, disk and locks from a run, and not always the same.",
            "Measure when nobody else does, or on a copy.",
        )
    } else {
        found
    }
}

fn maintenance(rows: &[Row]) -> Finding {
    let first = rows.first().map(|row| ask::text(row, 1).chars().take(60).collect::<String>());
    let Some(first) = first else { return Finding::passed("maintenance", "none") };
    let others = if rows.len() > 1 { format!(", and {} more", rows.len() - 1) } else { String::new() };
    Finding::passed("maintenance", format!("{first}{others}")).warning(
        "The server is at work for itself: it reads and writes beside a run until that is done.",
        "Wait until it is done: pg_stat_progress_vacuum and its siblings say how far it is.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    fn row(values: &[&str]) -> Row {
        values.iter().map(|value| Some((*value).to_owned())).collect()
    }

    #[test]
    fn only_sessions_that_do_something_matter() {
        let of = |values| sessions(&row(values));
        assert_eq!(of(&["7", "0", "0", "0", "0"]).severity, FindingSeverity::Passed);
        assert!(of(&["7", "2", "0", "3", "0"]).why.starts_with("Others use the server"));
        assert!(of(&["7", "0", "1", "600", "0"]).why.starts_with("A transaction has been open for 600 s"));
        assert!(of(&["7", "0", "0", "0", "5"]).figure.ends_with("5 hidden from this role"));
    }

    #[test]
    fn maintenance_is_named() {
        assert_eq!(maintenance(&[]).severity, FindingSeverity::Passed);
        let rows = [row(&["autovacuum worker", "autovacuum: VACUUM public.t"]), row(&["client backend", "VACUUM"])];
        assert_eq!(maintenance(&rows).figure, "autovacuum: VACUUM public.t, and 1 more");
    }
}
