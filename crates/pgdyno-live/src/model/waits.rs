//! Wait events of sessions.

use std::collections::BTreeMap;

use pgdyno_samples::waits;

use super::frames::Frames;

/// The period of the averages: long enough to be stable, short enough to be current.
pub(crate) const WINDOW_S: f64 = 5.0;
/// Samples of sessions per second, if no frame has the number.
const LOOKS: f64 = 10.0;

/// The average number of sessions with one wait event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wait {
    /// The type of the wait event; `CPU` if a session waits for nothing.
    pub(crate) kind: String,
    /// The wait event.
    pub(crate) event: String,
    /// Average active sessions.
    pub(crate) sessions: f64,
}

/// Returns the last seconds by wait event, the greatest first. `None` without samples.
pub(crate) fn waits(frames: &Frames) -> Option<Vec<Wait>> {
    let last_s = frames.last_s(waits::SOURCE)?;
    let (mut looks, mut usual) = (0.0, LOOKS);
    let mut seen: BTreeMap<(String, String), f64> = BTreeMap::new();
    for rows in frames.since(waits::SOURCE, last_s - WINDOW_S) {
        for row in rows {
            usual = row.number(waits::LOOKS).unwrap_or(usual);
            let key = |column| row.text(column).unwrap_or_default().to_owned();
            *seen.entry((key(waits::WAIT_EVENT_TYPE), key(waits::WAIT_EVENT))).or_default() +=
                row.number(waits::SAMPLES).unwrap_or(0.0);
        }
        // A second without active sessions has no row.
        looks += usual;
    }
    let wait = |((kind, event), samples): ((String, String), f64)| Wait { kind, event, sessions: samples / looks };
    let mut waits: Vec<_> = seen.into_iter().map(wait).collect();
    waits.sort_by(|one, other| other.sessions.total_cmp(&one.sessions));
    Some(waits)
}
