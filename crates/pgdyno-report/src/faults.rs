//! The faults that a run caused, in a sentence each.

use std::io::{self, Write};

use pgdyno_results::{FaultOutcome, FaultRecord, RunRecord};
use pgdyno_text::brief::duration;
use pgdyno_text::paint::Paint;
use pgdyno_text::units::{count, ending, plural};
use pgdyno_text::wrap::{self, LABEL};
use pgdyno_untrusted::MarkdownText;

/// Faults that the summary shows one by one.
const SHOWN_MAX: usize = 5;

/// Writes a line for each fault, the first ones if there are many.
pub(crate) fn text(record: &RunRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    for (nth, fault) in record.faults.iter().take(SHOWN_MAX).enumerate() {
        let label = if nth == 0 { "FAULT" } else { "" };
        let is_good = fault.outcome == FaultOutcome::Done;
        let colour = |text: &str| if is_good { text.to_owned() } else { paint.red(text) };
        wrap::painted(out, &paint.bold(&format!("{label:<LABEL$}")), LABEL, &sentence(fault), colour)?;
    }
    let more = record.faults.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        wrap::entry(out, paint, "", &format!("{} (run.json)", plural(more as u64, "more fault")))?;
    }
    let label = if record.faults.is_empty() { "OUTAGE" } else { "" };
    spread(record).into_iter().chain(attempts(record)).try_for_each(|line| wrap::entry(out, paint, label, &line))
}

/// Returns all of it as sentences, those of many faults too.
pub(crate) fn sentences(record: &RunRecord) -> Vec<String> {
    record.faults.iter().map(sentence).chain(spread(record)).chain(attempts(record)).collect()
}

/// Returns how the outages of several faults differ.
fn spread(record: &RunRecord) -> Option<String> {
    let done = record.faults.iter().filter(|fault| fault.outcome == FaultOutcome::Done);
    let mut back: Vec<f64> = done.filter_map(|fault| Some(fault.available_s? - fault.began_s?)).collect();
    back.sort_by(f64::total_cmp);
    let [least, .., most] = back[..] else { return None };
    let median = (back[(back.len() - 1) / 2] + back[back.len() / 2]) / 2.0;
    let [least, median, most] = [least, median, most].map(duration);
    Some(format!("{} faults: a new session could write after {least} to {most}, in the median {median}", back.len()))
}

/// Returns the attempts of clients to open lost connections again that failed, by class.
fn attempts(record: &RunRecord) -> Option<String> {
    let mut classes: Vec<_> = record.failed_attempts.iter().collect();
    classes.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    let total: u64 = classes.iter().map(|(_, number)| **number).sum();
    let classes: Vec<_> = classes.iter().map(|(class, number)| format!("{} {class}", count(**number))).collect();
    (total > 0).then(|| {
        let classes = classes.join(", ");
        format!("{} attempt{} to connect again failed: {classes}", count(total), ending(total))
    })
}

/// Writes the same as a Markdown list.
pub(crate) fn markdown(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    record.faults.iter().try_for_each(|fault| writeln!(out, "- fault: {}", MarkdownText(&sentence(fault))))?;
    spread(record).into_iter().chain(attempts(record)).try_for_each(|line| writeln!(out, "- {}", MarkdownText(&line)))
}

/// Returns a fault, how it came out, and what showed it.
fn sentence(fault: &FaultRecord) -> String {
    let at = duration(fault.began_s.unwrap_or(fault.at_s));
    let kind = &fault.kind;
    match fault.outcome {
        FaultOutcome::Done => format!("{kind} at {at} of the window: {}", effects(fault).join(", ")),
        FaultOutcome::NoEffect => format!("{kind} at {at} of the window had no effect: this run measured no fault"),
        FaultOutcome::Failed => {
            format!("{kind} at {at} of the window failed: {}", fault.why.as_deref().unwrap_or("unknown"))
        }
        FaultOutcome::Interrupted => format!("{kind} at {at} of the window: the run was interrupted meanwhile"),
        FaultOutcome::NotCaused => format!("{kind} at {at} of the window was not caused: the run ended before it"),
    }
}

/// Returns what clients and server show of a fault.
fn effects(fault: &FaultRecord) -> Vec<String> {
    let lost = fault.connections_lost;
    let lost = (lost > 0).then(|| format!("{} connection{} lost", count(lost), ending(lost)));
    let failed = fault.transactions_failed;
    let failed = (failed > 0).then(|| format!("{} transaction{} failed", count(failed), ending(failed)));
    let dropped = fault.packets_dropped;
    let dropped = dropped.map(|packets| format!("{} packet{} dropped", count(packets), ending(packets)));
    let server = match (&fault.server_before, &fault.server_after) {
        (Some(before), Some(after)) if before.timeline != after.timeline => {
            let timeline = |timeline: Option<u32>| timeline.map_or_else(|| "?".to_owned(), |number| number.to_string());
            Some(format!("timeline {} after {}", timeline(after.timeline), timeline(before.timeline)))
        }
        (Some(before), Some(after)) if before.started != after.started => Some("the server was restarted".to_owned()),
        _ => None,
    };
    let back = fault.available_s.zip(fault.began_s).map(|(available_s, began_s)| available_s - began_s);
    let back = match back {
        Some(back_s) => format!("a new session could write after {}", duration(back_s)),
        None => "no new session could write until the end".to_owned(),
    };
    dropped.into_iter().chain(lost).chain(failed).chain(server).chain([back]).collect()
}

#[cfg(test)]
mod tests {
    use pgdyno_results::FaultServerRecord;

    use super::*;

    #[test]
    fn several_faults_have_a_spread() {
        let mut record = crate::ledger::tests::record();
        let fault = |began_s: f64, took_s: f64, outcome| FaultRecord {
            began_s: Some(began_s),
            available_s: Some(began_s + took_s),
            outcome,
            ..FaultRecord::default()
        };
        record.faults = vec![fault(10.0, 2.0, FaultOutcome::Done), fault(20.0, 9.0, FaultOutcome::NoEffect)];
        assert_eq!(spread(&record), None);
        record.faults.extend([fault(30.0, 8.0, FaultOutcome::Done), fault(40.0, 3.0, FaultOutcome::Done)]);
        let line = "3 faults: a new session could write after 2.0 s to 8.0 s, in the median 3.0 s";
        assert_eq!(spread(&record).as_deref(), Some(line));
        record.faults.pop();
        assert!(spread(&record).unwrap().ends_with("2.0 s to 8.0 s, in the median 5.0 s"));
    }

    #[test]
    fn failed_attempts_are_counted_by_class() {
        let mut record = crate::ledger::tests::record();
        assert_eq!(attempts(&record), None);
        record.failed_attempts = [("not-ready", 14), ("refused", 1_200)].map(|(class, n)| (class.to_owned(), n)).into();
        let line = "1,214 attempts to connect again failed: 1,200 refused, 14 not-ready";
        assert_eq!(sentences(&record), [line]);
        let mut text = Vec::new();
        markdown(&record, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), format!("- {line}\n"));
    }

    #[test]
    fn a_fault_is_a_sentence_with_what_showed_it() {
        let server = |started: &str, timeline| {
            Some(FaultServerRecord {
                started: started.to_owned(),
                timeline: Some(timeline),
                ..FaultServerRecord::default()
            })
        };
        let killed = FaultRecord {
            kind: "kill-9".to_owned(),
            at_s: 20.0,
            began_s: Some(20.0),
            ended_s: Some(21.0),
            available_s: Some(21.5),
            outcome: FaultOutcome::Done,
            connections_lost: 1,
            server_before: server("a", 1),
            server_after: server("b", 1),
            ..FaultRecord::default()
        };
        assert_eq!(
            sentence(&killed),
            "kill-9 at 20 s of the window: 1 connection lost, the server was restarted, a new session could write after 1.5 s"
        );
        let promoted = FaultRecord { server_after: server("b", 2), available_s: None, ..killed.clone() };
        assert!(sentence(&promoted).ends_with("timeline 2 after 1, no new session could write until the end"));
        let dropped = FaultRecord { packets_dropped: Some(1_200), server_after: server("a", 1), ..killed.clone() };
        assert!(
            sentence(&dropped)
                .ends_with("1,200 packets dropped, 1 connection lost, a new session could write after 1.5 s")
        );
        let nothing = FaultRecord { outcome: FaultOutcome::NoEffect, ..killed };
        assert_eq!(sentence(&nothing), "kill-9 at 20 s of the window had no effect: this run measured no fault");
    }
}
