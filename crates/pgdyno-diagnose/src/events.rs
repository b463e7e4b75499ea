//! Events of a run, such as checkpoints and stalls, with their times.

mod checkpoint;
mod cycle;
mod stall;
mod vacuum;

use pgdyno_results::{EventRecord, Warning};

use crate::facts::Facts;

/// Everything that happened, by its begin.
pub(crate) fn all(facts: &Facts<'_>) -> Vec<EventRecord> {
    let mut events = checkpoint::events(facts);
    events.extend(vacuum::events(facts));
    events.extend(stall::events(facts));
    events.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    events
}

/// Returns warnings about what these events, or their absence, mean for the figures.
pub(crate) fn warnings(facts: &Facts<'_>, events: &[EventRecord]) -> Vec<Warning> {
    [stall::warning(facts, events), vacuum::storm(facts, events), cycle::warning(facts, events)]
        .into_iter()
        .flatten()
        .collect()
}

/// For how long, in seconds, events went on within the measured window, and how many of them at most at once.
fn coverage<'e>(facts: &Facts<'_>, events: impl Iterator<Item = &'e EventRecord>) -> (f64, usize) {
    let span = |event: &EventRecord| {
        let until_s = event.until_s.unwrap_or(event.from_s);
        (event.from_s.max(facts.from_s), until_s.min(facts.until_s))
    };
    let mut edges: Vec<(f64, i32)> = Vec::new();
    for (from_s, until_s) in events.map(span).filter(|(from_s, until_s)| until_s > from_s) {
        edges.extend([(from_s, 1), (until_s, -1)]);
    }
    // Where one ends as another begins, they are not at once.
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut covered, mut now, mut most, mut last) = (0.0, 0, 0, 0.0);
    for (at, step) in edges {
        if now > 0 {
            covered += at - last;
        }
        now += step;
        most = most.max(now);
        last = at;
    }
    (covered, usize::try_from(most).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn what_overlaps_is_counted_once() {
        let event =
            |from_s: f64, until_s: f64| EventRecord { from_s, until_s: Some(until_s), ..EventRecord::default() };
        let events = [event(0.0, 4.0), event(3.0, 5.0), event(5.0, 6.0), event(11.0, 99.0), event(7.0, 7.0)];
        assert_eq!(Run::new().ask(|facts| coverage(facts, events.iter())), (5.0, 2));
    }

    #[test]
    fn a_run_that_saw_nothing_shows_nothing() {
        let run = Run::new();
        let events = run.ask(all);
        assert_eq!((run.ask(|facts| warnings(facts, &events)), events), (vec![], vec![]));
    }
}
