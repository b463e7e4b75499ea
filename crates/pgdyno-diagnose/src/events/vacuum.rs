//! Vacuums, the server's own and others.

use std::collections::BTreeMap;

use pgdyno_results::{EventRecord, SampleTable, Warning};
use pgdyno_samples::{SampleColumn, tables, vacuum};

use super::coverage;
use crate::facts::Facts;

/// A vacuum that is not seen for so many seconds has ended.
const GAP_S: f64 = 2.5;

/// Vacuums that take more of the window than this are a storm.
const STORM: f64 = 1.0 / 3.0;

/// The end of the text of a vacuum that no look saw at work.
const TOO_SHORT: &str = ", too short to be seen at work";

/// All vacuums: those that were seen at work, and those that were too short for that, by the counters of their tables.
pub(super) fn events(facts: &Facts<'_>) -> Vec<EventRecord> {
    let mut events = seen(facts.samples.of(vacuum::SOURCE));
    let counted = facts.samples.of(tables::SOURCE);
    for (kind, counter) in [("autovacuum", tables::AUTOVACUUM_COUNT), ("vacuum", tables::VACUUM_COUNT)] {
        let short = short(counted, kind, counter, &events);
        events.extend(short);
    }
    events
}

fn text(kind: &str, schema: &str, table: &str) -> String {
    format!("{kind} of {schema}.{table}")
}

/// Those whose progress was seen.
fn seen(progress: &SampleTable) -> Vec<EventRecord> {
    let mut events: Vec<EventRecord> = Vec::new();
    // The last event of each kind and table.
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    for (at_s, row) in progress.rows() {
        let cell = |column| progress.cell(row, column).unwrap_or("?");
        let kind = if matches!(cell(vacuum::AUTOVACUUM), "true" | "t") { "autovacuum" } else { "vacuum" };
        let text = text(kind, cell(vacuum::SCHEMA), cell(vacuum::TABLE));
        let goes_on = last.get(&text).filter(|nth| events[**nth].until_s.is_some_and(|until| at_s - until <= GAP_S));
        match goes_on {
            Some(nth) => events[*nth].until_s = Some(*at_s),
            None => {
                last.insert(text.clone(), events.len());
                events.push(EventRecord { kind: kind.to_owned(), text, from_s: *at_s, until_s: Some(*at_s) });
            }
        }
    }
    events
}

/// Those that only the tables' counters show: some time between two looks.
fn short(counted: &SampleTable, kind: &str, counter: SampleColumn, seen: &[EventRecord]) -> Vec<EventRecord> {
    let mut events = Vec::new();
    let mut before: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    for (at_s, row) in counted.rows() {
        let cell = |column| counted.cell(row, column).unwrap_or_default();
        let Ok(count) = cell(counter).parse::<u64>() else { continue };
        let text = text(kind, cell(tables::SCHEMA), cell(tables::TABLE));
        let Some((then_s, then)) = before.insert(text.clone(), (*at_s, count)) else { continue };
        let at_work = |event: &&EventRecord| {
            event.text == text && event.until_s.is_some_and(|until| until >= then_s - GAP_S) && event.from_s <= *at_s
        };
        let unseen = count.saturating_sub(then).saturating_sub(seen.iter().filter(at_work).count() as u64);
        if unseen > 0 {
            let times = if unseen > 1 { format!(", {unseen} times") } else { String::new() };
            let text = format!("{text}{times}{TOO_SHORT}");
            events.push(EventRecord { kind: kind.to_owned(), text, from_s: then_s, until_s: Some(*at_s) });
        }
    }
    events
}

/// Vacuums that were at work for so long, or so many at once, that the figures are those of a server that vacuums.
pub(super) fn storm(facts: &Facts<'_>, events: &[EventRecord]) -> Option<Warning> {
    let is_seen = |event: &&EventRecord| {
        matches!(event.kind.as_str(), "autovacuum" | "vacuum") && !event.text.ends_with(TOO_SHORT)
    };
    let at_work: Vec<_> = events.iter().filter(is_seen).collect();
    let (seconds, most) = coverage(facts, at_work.iter().copied());
    let share = seconds / facts.seconds();
    if share <= STORM {
        return None;
    }
    Some(Warning::VacuumRan {
        share,
        workers_max: most as u64,
        autovacuum_max_workers: facts.setting("autovacuum_max_workers").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    const PROGRESS: [&str; 4] = ["schema", "table", "autovacuum", "phase"];

    #[test]
    fn a_vacuum_is_one_from_its_first_look_to_its_last() {
        let a: &[&str] = &["public", "a", "true", "scanning heap"];
        let b: &[&str] = &["public", "b", "false", "scanning heap"];
        let run = Run::new().looks("vacuum", &PROGRESS, &[(3.0, a), (4.0, a), (4.0, b), (5.0, a), (9.0, a)]);
        let found: Vec<_> = run.ask(events).into_iter().map(|e| (e.kind, e.text, e.from_s, e.until_s)).collect();
        let event = |kind: &str, table: &str, from_s, until_s| {
            (kind.to_owned(), format!("{kind} of public.{table}"), from_s, Some(until_s))
        };
        assert_eq!(
            found,
            [event("autovacuum", "a", 3.0, 5.0), event("vacuum", "b", 4.0, 4.0), event("autovacuum", "a", 9.0, 9.0)]
        );
    }

    #[test]
    fn one_too_short_to_be_seen_is_reported_by_its_table() {
        let columns = ["schema", "table", "vacuum_count", "autovacuum_count"];
        let looks: &[(f64, &[&str])] = &[
            (0.0, &["public", "a", "0", "1"]),
            (0.0, &["public", "b", "", ""]),
            (10.0, &["public", "a", "0", "3"]),
            (10.0, &["public", "b", "", ""]),
        ];
        let run = Run::new().looks("tables", &columns, looks);
        let found = run.ask(events);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].text, "autovacuum of public.a, 2 times, too short to be seen at work");
        assert_eq!((found[0].from_s, found[0].until_s), (0.0, Some(10.0)));
        assert_eq!(run.ask(|facts| storm(facts, &found)), None, "when it was at work is not known");
        // One of the two was seen.
        let run = run.looks("vacuum", &PROGRESS, &[(3.0, &["public", "a", "true", "x"])]);
        let found = run.ask(events);
        assert!(
            found.len() == 2 && found[1].text == "autovacuum of public.a, too short to be seen at work",
            "{found:?}"
        );
    }

    #[test]
    fn a_storm_takes_a_third_of_the_window() {
        let row: &[&str] = &["public", "a", "true", "x"];
        let other: &[&str] = &["public", "b", "true", "x"];
        let looks: Vec<_> = (2..7).flat_map(|at| [(f64::from(at), row), (f64::from(at), other)]).collect();
        let run = Run::new().looks("vacuum", &PROGRESS, &looks);
        let warning = run.ask(|facts| storm(facts, &events(facts))).unwrap().to_string();
        assert!(warning.contains("40 % of the window, up to 2 at once"), "{warning}");
        let run = Run::new().looks("vacuum", &PROGRESS, &looks[..6]);
        assert_eq!(run.ask(|facts| storm(facts, &events(facts))), None);
    }
}
