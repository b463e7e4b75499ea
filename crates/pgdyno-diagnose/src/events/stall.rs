//! Times in which next to nothing was committed.

use pgdyno_results::{EventRecord, IntervalRecord, Warning};
use pgdyno_text::brief::number;

use crate::facts::Facts;

pub(super) const KIND: &str = "stall";

/// An interval with less than this share of the median is a stall.
const STALLED: f64 = 0.1;

/// A median interval of fewer transactions than this shows nothing: by chance alone some have none.
const COMMITTED_MIN: f64 = 20.0;

/// An interval shorter than this, in seconds, is the rest of one.
const WHOLE_S: f64 = 0.5;

/// The stalls, each from its first interval to its last.
pub(super) fn events(facts: &Facts<'_>) -> Vec<EventRecord> {
    let whole: Vec<_> = facts.intervals.iter().copied().filter(|i| i.seconds() >= WHOLE_S).collect();
    let per_s = |i: &IntervalRecord| i.committed as f64 / i.seconds();
    // Where stalls are most of the window, the median is one of them.
    let is_usual = |i: &&&IntervalRecord| !is_known(facts) || i.committed > 0;
    let mut sorted: Vec<f64> = whole.iter().filter(is_usual).map(|i| per_s(i)).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(median) = sorted.get(sorted.len() / 2).copied().filter(|median| *median >= COMMITTED_MIN) else {
        return Vec::new();
    };
    let is_stalled = |i: &IntervalRecord| per_s(i) < STALLED * median;
    let runs = whole.chunk_by(|a, b| is_stalled(a) == is_stalled(b));
    let event = |run: &[&IntervalRecord]| {
        let (first, last) = (run.first()?, run.last()?);
        is_stalled(first).then(|| {
            let committed: u64 = run.iter().map(|i| i.committed).sum();
            let instead = median * (last.end_s - first.start_s);
            EventRecord {
                kind: KIND.to_owned(),
                text: format!("stall: {} transactions instead of about {}", number(committed as f64), number(instead)),
                from_s: first.start_s,
                until_s: Some(last.end_s),
            }
        })
    };
    runs.filter_map(event).collect()
}

/// Returns true if the figures of the run have stalls, which the run itself warns of.
fn is_known(facts: &Facts<'_>) -> bool {
    facts.record.summary.as_ref().is_some_and(|summary| summary.stalled_s.is_some())
}

/// A warning, as a mean hides stalls.
pub(super) fn warning(facts: &Facts<'_>, events: &[EventRecord]) -> Option<Warning> {
    let stalls: Vec<_> = events.iter().filter(|event| event.kind == KIND).collect();
    let first = stalls.first().filter(|_| !is_known(facts))?;
    let (seconds, _) = super::coverage(facts, stalls.iter().copied());
    Some(Warning::ThroughputStalled { stalled_s: seconds, share: seconds / facts.seconds(), from_s: first.from_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(committed: &[u64]) -> Run {
        let mut run = Run::new();
        for (interval, committed) in run.timeline.intervals.iter_mut().skip(2).zip(committed) {
            interval.committed = *committed;
        }
        run
    }

    #[test]
    fn intervals_with_next_to_nothing_are_one_stall() {
        let run = run(&[100, 90, 0, 9, 110, 100, 2, 100, 100, 100]);
        let events = run.ask(events);
        let spans: Vec<_> = events.iter().map(|e| (e.from_s, e.until_s)).collect();
        assert_eq!(spans, [(4.0, Some(6.0)), (8.0, Some(9.0))]);
        assert_eq!(events[0].text, "stall: 9.0 transactions instead of about 200");
        let warning = run.ask(|facts| warning(facts, &events)).unwrap().to_string();
        assert!(warning.contains("3.0 s (30 % of the window), first at 4.0 s"), "{warning}");
    }

    #[test]
    fn a_slow_second_the_warm_up_and_few_transactions_are_no_stall() {
        assert_eq!(run(&[100, 50, 20, 11, 10]).ask(events), []);
        assert_eq!(run(&[5, 0, 8, 7, 9, 3, 0, 4, 5, 6]).ask(events), []);
        let mut early = Run::new();
        early.timeline.intervals[0].committed = 0;
        assert_eq!(early.ask(events), []);
        assert_eq!(early.ask(|facts| warning(facts, &[])), None);
    }
}
