//! Waits of sessions, sampled several times a second: an active session that waits in a tenth of the looks waits
//! about a tenth of its time.

use std::collections::BTreeMap;
use std::time::Instant;

use pgdyno_net::quote;
use pgdyno_samples::waits::SOURCE;

use super::traits::ServerTraits;
use crate::Frame;

pub(super) const NAME: &str = SOURCE.name;

/// The kind of clients' sessions.
const CLIENT: &str = "client backend";
/// Name for an active session that waits for nothing.
const NO_WAIT: &str = "CPU";

/// The kind of sessions that serve none of the run's clients.
const OTHER: &str = "other session";
/// The kinds of sessions that run streams of queries beside the clients' transactions, and of their parallel workers.
const STREAM: &str = "query stream";
const STREAM_WORKER: &str = "query stream worker";
/// Name for a session that is idle in a transaction: no wait event of PostgreSQL has this type.
const IDLE: &str = "Idle";

/// The server truncates longer names.
const NAME_MAX: usize = 63;

/// Returns true for a name that the server takes as it is. One that it may change identifies nothing.
fn is_plain(name: &str) -> bool {
    name.len() <= NAME_MAX && name.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
}

/// Returns the `application_name` of sessions that run streams of queries beside clients of this name, so that samples distinguish both
/// apart. `None` where the server would change it.
#[must_use]
pub fn name_of_streams(clients: &str) -> Option<String> {
    Some(format!("{clients} queries")).filter(|name| is_plain(name))
}

/// Returns an SQL expression for the kind of a session of `pg_stat_get_activity`: its `backend_type`; [`STREAM`] or
/// [`STREAM_WORKER`] where it runs queries beside the clients; or [`OTHER`] where it is neither of these nor one of the clients',
/// whose `application_name` is `clients`. Sessions that Citus opens to its own nodes work for the clients.
pub(super) fn kind(clients: Option<&str>) -> String {
    let Some(clients) = clients.filter(|name| is_plain(name)) else { return "backend_type".to_owned() };
    let of_streams = name_of_streams(clients).map_or_else(String::new, |name| {
        let name = quote::literal(&name);
        format!(
            "WHEN application_name = {name} AND backend_type = '{CLIENT}' THEN '{STREAM}' \
             WHEN application_name = {name} AND backend_type = 'parallel worker' THEN '{STREAM_WORKER}' "
        )
    });
    format!(
        "CASE {of_streams}WHEN backend_type IN ('{CLIENT}', 'parallel worker') AND application_name IS DISTINCT FROM {} \
         AND application_name !~ '^citus_' THEN '{OTHER}' ELSE backend_type END",
        quote::literal(clients)
    )
}

/// Returns one look at the sessions; those of the clients have the `application_name` `clients`.
///
/// The function is the one of `pg_stat_activity`, without the names of roles and databases. Background processes
/// sleep in `Activity`, WAL senders in `Client`.
pub(super) fn sql(clients: Option<&str>) -> String {
    format!(
        "SELECT {} {}, \
         CASE WHEN idle THEN '{IDLE}' ELSE wait_event_type END, CASE WHEN idle THEN '{IDLE}' ELSE wait_event END, count(*) \
         FROM (SELECT *, state LIKE 'idle in transaction%' AND backend_type = 'client backend' AS idle \
           FROM pg_stat_get_activity(NULL)) AS session \
         WHERE pid <> pg_backend_pid() AND application_name IS DISTINCT FROM 'pgdyno sampler' \
         AND CASE WHEN backend_type IN ('client backend', 'parallel worker') \
         THEN idle OR state IN ('active', 'fastpath function call') ELSE backend_type IS NOT NULL \
         AND wait_event_type IS DISTINCT FROM 'Activity' AND wait_event_type IS DISTINCT FROM 'Client' END GROUP BY 1, 2, 3",
        super::MARK,
        kind(clients)
    )
}

/// Warning for a role that does not see other sessions.
pub(super) fn caveat(traits: &ServerTraits) -> Option<String> {
    (!traits.sees_all).then(|| {
        format!(
            "only sessions of role {0} are visible, and no background processes: GRANT pg_monitor TO {0} shows them \
             all",
            traits.role
        )
    })
}

/// The looks of one second.
#[derive(Debug, Default)]
pub(super) struct Looks {
    looks: u64,
    seen: BTreeMap<[String; 3], u64>,
    /// Sessions that were idle in a transaction: of the clients, and of others.
    in_transaction: [u64; 2],
}

impl Looks {
    /// Adds the rows of one look.
    pub(super) fn add(&mut self, rows: Vec<Vec<Option<String>>>) {
        self.looks += 1;
        for row in rows {
            let Ok([Some(backend), kind, event, Some(count)]) = <[_; 4]>::try_from(row) else { continue };
            let word = |cell: Option<String>| cell.unwrap_or_else(|| NO_WAIT.to_owned());
            let count: u64 = count.parse().unwrap_or_default();
            if kind.as_deref() == Some(IDLE) {
                match backend.as_str() {
                    STREAM => {}
                    _ => self.in_transaction[usize::from(backend == OTHER)] += count,
                }
                continue;
            }
            *self.seen.entry([backend, word(kind), word(event)]).or_default() += count;
        }
    }

    /// Returns true if any session was waiting for a lock.
    pub(super) fn have_locks(&self) -> bool {
        self.seen.keys().any(|[_, kind, _]| kind == "Lock")
    }

    /// Returns true if any session was waiting for a row.
    pub(super) fn have_row_locks(&self) -> bool {
        self.seen.keys().any(|[_, kind, event]| kind == "Lock" && matches!(event.as_str(), "tuple" | "transactionid"))
    }

    /// Returns all looks so far as a frame; `None` without a look. If no session was active, it has a row for that.
    pub(super) fn take(&mut self, at: Instant) -> Option<Frame> {
        let Self { looks, mut seen, in_transaction } = std::mem::take(self);
        if looks == 0 {
            return None;
        }
        if seen.is_empty() {
            seen.insert([CLIENT, NO_WAIT, NO_WAIT].map(str::to_owned), 0);
        }
        let row = |(keys, samples): ([String; 3], u64)| {
            let [own, others] = in_transaction;
            keys.into_iter().chain([samples, own, others, looks].map(|n| n.to_string())).map(Some).collect()
        };
        Some(Frame { source: NAME, at, columns: SOURCE.names, rows: seen.into_iter().map(row).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[[&str; 4]]) -> Vec<Vec<Option<String>>> {
        let cell = |cell: &&str| Some((*cell).to_owned()).filter(|cell| !cell.is_empty());
        rows.iter().map(|row| row.iter().map(cell).collect()).collect()
    }

    #[test]
    fn a_name_is_quoted_and_one_that_may_be_cut_shows_nobody_apart() {
        assert!(sql(Some("it's \\ mine")).contains(r"E'it''s \\ mine'"), "{}", sql(Some("it's \\ mine")));
        for name in [None, Some("é"), Some(&*"x".repeat(64))] {
            assert!(sql(name).contains("backend_type, CASE WHEN idle"), "{name:?}");
        }
        assert_eq!(name_of_streams("pgdyno").as_deref(), Some("pgdyno queries"));
        assert_eq!(name_of_streams(&"x".repeat(60)), None);
    }

    #[test]
    fn looks_of_a_second_are_added_up() {
        let mut looks = Looks::default();
        looks.add(rows(&[[CLIENT, "LWLock", "WALWrite", "3"], [CLIENT, "", "", "2"]]));
        looks.add(rows(&[[CLIENT, "LWLock", "WALWrite", "4"], [CLIENT, IDLE, IDLE, "1"], [OTHER, IDLE, IDLE, "3"]]));
        assert!(!looks.have_locks());
        let frame = looks.take(Instant::now()).unwrap();
        assert_eq!(
            frame.rows,
            [
                [CLIENT, "CPU", "CPU", "2", "1", "3", "2"].map(|cell| Some(cell.to_owned())),
                [CLIENT, "LWLock", "WALWrite", "7", "1", "3", "2"].map(|cell| Some(cell.to_owned())),
            ]
        );
        assert_eq!(looks.take(Instant::now()), None);
    }

    #[test]
    fn a_second_in_which_nobody_was_active_is_distinguished_from_one_without_a_look() {
        let mut looks = Looks::default();
        assert_eq!(looks.take(Instant::now()), None);
        looks.add(rows(&[["parallel worker", "Lock", "tuple", "1"]]));
        assert!(looks.have_locks() && looks.have_row_locks());
        let _ = looks.take(Instant::now());
        looks.add(rows(&[["client backend", "Lock", "relation", "1"]]));
        assert!(looks.have_locks() && !looks.have_row_locks());
        let _ = looks.take(Instant::now());
        looks.add(Vec::new());
        let frame = looks.take(Instant::now()).unwrap();
        assert_eq!(frame.rows, [[CLIENT, "CPU", "CPU", "0", "0", "0", "1"].map(|cell| Some(cell.to_owned()))]);
    }
}
