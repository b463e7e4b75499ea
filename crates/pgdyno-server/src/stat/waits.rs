//! What sessions wait for, by looking at them several times a second: an active session that is seen waiting in a tenth of
//! the looks waits a tenth of its time, about.

use std::collections::BTreeMap;
use std::time::Instant;

use pgdyno_samples::waits::SOURCE;

use super::scene::Scene;
use crate::Frame;

pub(super) const NAME: &str = SOURCE.name;

/// The kind of sessions that clients have.
const CLIENT: &str = "client backend";
/// What a session does that waits for nothing.
const NO_WAIT: &str = "CPU";

/// One look. The function is what `pg_stat_activity` asks, without the names of roles and databases that it adds. Background
/// processes sleep in `Activity`, WAL senders in `Client`.
const FROM: &str = "pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid() \
     AND application_name IS DISTINCT FROM 'pgdyno sampler' AND CASE WHEN backend_type IN ('client backend', 'parallel worker') \
     THEN state IN ('active', 'fastpath function call') ELSE backend_type IS NOT NULL \
     AND wait_event_type IS DISTINCT FROM 'Activity' AND wait_event_type IS DISTINCT FROM 'Client' END GROUP BY 1, 2, 3";

pub(super) fn sql() -> String {
    format!("SELECT {} backend_type, wait_event_type, wait_event, count(*) FROM {FROM}", super::MARK)
}

/// What a role that does not see the sessions of others should know.
pub(super) fn caveat(scene: &Scene) -> Option<String> {
    (!scene.sees_all).then(|| {
        format!(
            "only sessions of role {0} are seen, and no background process: GRANT pg_monitor TO {0} shows them all",
            scene.role
        )
    })
}

/// The looks of one second.
#[derive(Debug, Default)]
pub(super) struct Looks {
    looks: u64,
    seen: BTreeMap<[String; 3], u64>,
}

impl Looks {
    /// Takes the rows of one look.
    pub(super) fn add(&mut self, rows: Vec<Vec<Option<String>>>) {
        self.looks += 1;
        for row in rows {
            let Ok([Some(backend), kind, event, Some(count)]) = <[_; 4]>::try_from(row) else { continue };
            let word = |cell: Option<String>| cell.unwrap_or_else(|| NO_WAIT.to_owned());
            let count: u64 = count.parse().unwrap_or_default();
            *self.seen.entry([backend, word(kind), word(event)]).or_default() += count;
        }
    }

    /// Whether anybody was seen waiting for a lock.
    pub(super) fn have_locks(&self) -> bool {
        self.seen.keys().any(|[_, kind, _]| kind == "Lock")
    }

    /// All looks so far as a frame; none where nobody could look. Where nobody was active there is a row that says so.
    pub(super) fn take(&mut self, at: Instant) -> Option<Frame> {
        let Self { looks, mut seen } = std::mem::take(self);
        if looks == 0 {
            return None;
        }
        if seen.is_empty() {
            seen.insert([CLIENT, NO_WAIT, NO_WAIT].map(str::to_owned), 0);
        }
        let row = |(keys, samples): ([String; 3], u64)| {
            keys.into_iter().chain([samples.to_string(), looks.to_string()]).map(Some).collect()
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
    fn looks_of_a_second_are_added_up() {
        let mut looks = Looks::default();
        looks.add(rows(&[[CLIENT, "LWLock", "WALWrite", "3"], [CLIENT, "", "", "2"]]));
        looks.add(rows(&[[CLIENT, "LWLock", "WALWrite", "4"]]));
        assert!(!looks.have_locks());
        let frame = looks.take(Instant::now()).unwrap();
        assert_eq!(
            frame.rows,
            [
                [CLIENT, "CPU", "CPU", "2", "2"].map(|cell| Some(cell.to_owned())),
                [CLIENT, "LWLock", "WALWrite", "7", "2"].map(|cell| Some(cell.to_owned())),
            ]
        );
        assert_eq!(looks.take(Instant::now()), None);
    }

    #[test]
    fn a_second_in_which_nobody_was_active_is_told_from_one_without_a_look() {
        let mut looks = Looks::default();
        assert_eq!(looks.take(Instant::now()), None);
        looks.add(rows(&[["parallel worker", "Lock", "tuple", "1"]]));
        assert!(looks.have_locks());
        let _ = looks.take(Instant::now());
        looks.add(Vec::new());
        let frame = looks.take(Instant::now()).unwrap();
        assert_eq!(frame.rows, [[CLIENT, "CPU", "CPU", "0", "1"].map(|cell| Some(cell.to_owned()))]);
    }
}
