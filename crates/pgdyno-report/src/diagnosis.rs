//! The events and findings of a run.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pgdyno_results::{EventRecord, FindingRecord, RunRecord, time_part_title};
use pgdyno_text::units::{duration, percent, plural};
use pgdyno_text::wrap::{hanging, wrapped};
use pgdyno_untrusted::MarkdownText;

/// Maximum number of findings that are shown; the record has all.
const FINDINGS_MAX: usize = 5;

/// Maximum number of events of a kind that are shown one by one.
const EVENTS_MAX: usize = 3;

/// Maximum number of parts of the clients' time that are shown.
const PARTS_MAX: usize = 4;

/// Returns the ranked findings that are shown, with their numbers.
fn shown(record: &RunRecord) -> impl Iterator<Item = (usize, &FindingRecord)> {
    (1..).zip(record.findings.iter().filter(|finding| !finding.also_seen).take(FINDINGS_MAX))
}

/// Returns all findings without a share of the clients' time.
fn also_seen(record: &RunRecord) -> impl Iterator<Item = &FindingRecord> {
    record.findings.iter().filter(|finding| finding.also_seen)
}

/// Returns `server: row locks 63 %, server: on a CPU 12 %, others 25 %`, if known.
pub(crate) fn clients_time(record: &RunRecord) -> Option<String> {
    let (first, rest) = record.clients_time.split_at(record.clients_time.len().min(PARTS_MAX));
    let mut parts: Vec<_> =
        first.iter().map(|part| format!("{} {}", time_part_title(&part.name), percent(part.share))).collect();
    let others: f64 = rest.iter().map(|part| part.share).sum();
    if others >= 0.001 {
        parts.push(format!("others {}", percent(others)));
    }
    (!parts.is_empty()).then(|| format!("clients' time: {}", parts.join(", ")))
}

/// Writes numbered lines with their evidence, and one line of events.
pub(crate) fn text(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    if let Some(line) = events(record) {
        wrapped(out, &line, "  ")?;
    }
    if let Some(line) = clients_time(record) {
        wrapped(out, &line, "  ")?;
    }
    if shown(record).next().is_some() {
        writeln!(out, "what held the server back:")?;
    }
    for (nth, finding) in shown(record) {
        hanging(out, &format!("  {nth}. "), 5, &finding.text)?;
        hanging(out, "     ", 5, &finding.evidence.join("; "))?;
        if let Some(advice) = &finding.advice {
            hanging(out, "     -> ", 8, advice)?;
        }
    }
    if also_seen(record).next().is_some() {
        writeln!(out, "also:")?;
    }
    for finding in also_seen(record) {
        let advice = finding.advice.as_ref().map_or_else(String::new, |advice| format!("; {advice}"));
        hanging(out, "  - ", 4, &format!("{}{advice}", finding.text))?;
    }
    Ok(())
}

/// Writes the same as a Markdown list.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    if let Some(line) = clients_time(record) {
        writeln!(out, "- {}", MarkdownText(&line))?;
    }
    let rest = |finding: &FindingRecord| {
        let advice = finding.advice.as_ref().map_or_else(String::new, |advice| format!(" — {advice}"));
        format!("({}){advice}", finding.evidence.join("; "))
    };
    if shown(record).next().is_some() {
        writeln!(out, "What held the server back:\n")?;
        for (nth, finding) in shown(record) {
            writeln!(out, "{nth}. **{}** {}", MarkdownText(&finding.text), MarkdownText(&rest(finding)))?;
        }
        writeln!(out)?;
    }
    for finding in also_seen(record) {
        writeln!(out, "- also: {} {}", MarkdownText(&finding.text), MarkdownText(&rest(finding)))?;
    }
    events(record).map_or(Ok(()), |line| writeln!(out, "- {}", MarkdownText(&line)))
}

/// Returns all events in one line, by kind; rare ones with their times.
fn events(record: &RunRecord) -> Option<String> {
    let mut kinds: BTreeMap<&str, Vec<&EventRecord>> = BTreeMap::new();
    for event in &record.events {
        kinds.entry(&event.kind).or_default().push(event);
    }
    let of_kind = |(kind, events): (&str, Vec<&EventRecord>)| {
        if events.len() <= EVENTS_MAX {
            return events.into_iter().map(one).collect::<Vec<_>>().join("; ");
        }
        let first = events.iter().map(|event| event.from_s).fold(f64::INFINITY, f64::min);
        format!("{}, the first {}", plural(events.len() as u64, kind), moment(first))
    };
    (!kinds.is_empty()).then(|| format!("events: {}", kinds.into_iter().map(of_kind).collect::<Vec<_>>().join("; ")))
}

/// Returns an event with its time.
fn one(event: &EventRecord) -> String {
    let lasted = event.until_s.map(|until| until - event.from_s).filter(|lasted| *lasted > 0.0);
    let lasted = lasted.map_or_else(String::new, |lasted| format!(" for {}", duration(lasted)));
    format!("{} {}{lasted}", event.text, moment(event.from_s))
}

/// Returns a time of the run; events before the clients started have one, too.
fn moment(at_s: f64) -> String {
    if at_s < 0.0 {
        format!("from {} before the clients began", duration(-at_s))
    } else {
        format!("at {}", duration(at_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> RunRecord {
        serde_json::from_str(include_str!("../../../fixtures/runs/v1/run.json")).unwrap()
    }

    fn event(kind: &str, text: &str, from_s: f64, until_s: f64) -> EventRecord {
        EventRecord { kind: kind.to_owned(), text: text.to_owned(), from_s, until_s: Some(until_s) }
    }

    #[test]
    fn few_events_are_reported_and_many_counted() {
        let mut record = record();
        assert_eq!(events(&record), None);
        record.events = vec![event("checkpoint", "timed checkpoint, 12 buffers written", -1.0, 4.0)];
        record.events.push(event("stall", "stall", 20.0, 22.0));
        record.events.extend((0..4).map(|nth| event("autovacuum", "autovacuum of a", f64::from(nth), f64::from(nth))));
        assert_eq!(
            events(&record).unwrap(),
            "events: 4 autovacuums, the first at 0 ms; timed checkpoint, 12 buffers written from 1.0 s before the \
             clients began for 5.0 s; stall at 20 s for 2.0 s"
        );
    }

    #[test]
    fn the_first_findings_are_shown_with_their_evidence() {
        let mut record = record();
        let mut render = |findings: usize, how: fn(&RunRecord, &mut dyn Write) -> io::Result<()>| {
            record.findings = (0..findings)
                .map(|nth| FindingRecord {
                    rule: "a-rule".to_owned(),
                    text: format!("text {nth}"),
                    evidence: vec!["one".to_owned(), "two".to_owned()],
                    advice: Some("try it".to_owned()),
                    ..FindingRecord::default()
                })
                .collect();
            let mut out = Vec::new();
            how(&record, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!((render(0, text), render(0, markdown)), (String::new(), String::new()));
        let seven = render(7, text);
        assert!(
            seven.starts_with("what held the server back:\n  1. text 0\n     one; two\n     -> try it\n  2. text 1\n")
        );
        assert!(seven.contains("5. text 4") && !seven.contains("text 5"));
        assert!(render(1, markdown).ends_with("\n1. **text 0** (one; two) — try it\n\n"));
    }
}
