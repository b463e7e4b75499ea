//! Checkpoints: from the sample that first shows one to the sample that shows its end.
//!
//! The server counts a checkpoint as it begins, but a hurried one reports that with its end only. That it is complete is
//! seen by its redo position in the control file, which every version shows; where nobody may look there, by the time that
//! it took, which is reported with its end, too.

use pgdyno_results::{EventRecord, SampleTable};
use pgdyno_samples::checkpointer;
use pgdyno_text::brief::number;

use crate::facts::Facts;

pub(super) const KIND: &str = "checkpoint";

/// Seconds after its end within which a checkpoint's counters are updated.
const REPORT_S: f64 = 2.5;

/// The counters at one look.
#[derive(Clone, Copy)]
struct CheckpointSample {
    at_s: f64,
    timed: f64,
    requested: f64,
    worked_s: f64,
    buffers: f64,
    redo: Option<f64>,
}

/// Reads the looks; those that lack a counter are left out.
fn looks(table: &SampleTable) -> Vec<CheckpointSample> {
    let look = |(at_s, row): &(f64, Vec<String>)| {
        let number = |column| table.cell(row, column).and_then(|cell| cell.parse::<f64>().ok());
        Some(CheckpointSample {
            at_s: *at_s,
            timed: number(checkpointer::NUM_TIMED)?,
            requested: number(checkpointer::NUM_REQUESTED)?,
            worked_s: (number(checkpointer::WRITE_TIME_MS)? + number(checkpointer::SYNC_TIME_MS)?) / 1e3,
            buffers: number(checkpointer::BUFFERS_WRITTEN)?,
            redo: number(checkpointer::REDO_LSN_BYTES),
        })
    };
    table.rows().iter().filter_map(look).collect()
}

/// The difference between two looks.
struct Step {
    before_s: f64,
    at_s: f64,
    timed: bool,
    requested: bool,
    worked_s: f64,
    buffers: f64,
    ended: bool,
}

impl Step {
    /// None where the counters were reset in between.
    fn between(before: &CheckpointSample, now: &CheckpointSample) -> Option<Self> {
        let worked_s = (now.worked_s - before.worked_s).max(0.0);
        let reset = now.timed < before.timed || now.requested < before.requested || now.buffers < before.buffers;
        (!reset).then_some(Self {
            before_s: before.at_s,
            at_s: now.at_s,
            timed: now.timed > before.timed,
            requested: now.requested > before.requested,
            worked_s,
            buffers: now.buffers - before.buffers,
            ended: match (before.redo, now.redo) {
                (Some(before), Some(now)) => now > before,
                _ => worked_s > 0.0,
            },
        })
    }

    fn is_begin(&self) -> bool {
        self.timed || self.requested
    }
}

/// A checkpoint.
struct Checkpoint {
    from_s: f64,
    /// None while it goes on.
    until_s: Option<f64>,
    timed: bool,
    requested: bool,
    buffers: f64,
    /// Returns true if its duration is known.
    reported: bool,
}

impl Checkpoint {
    /// One that the step shows first.
    fn of(step: &Step) -> Self {
        let from_s = if step.ended { step.before_s } else { step.at_s };
        Self { from_s, until_s: None, timed: false, requested: false, buffers: 0.0, reported: false }
    }

    /// Goes on, and may end.
    fn go_on(&mut self, step: &Step) {
        self.buffers += step.buffers;
        self.timed |= step.timed;
        self.requested |= step.requested;
        if step.ended {
            self.until_s = Some(step.at_s);
            self.report(step.worked_s);
        }
    }

    /// Takes what is reported only after its end; whether that was all that the step shows.
    fn take_late(&mut self, step: &Step) -> bool {
        let just_ended = self.until_s.is_some_and(|until| step.at_s - until <= REPORT_S) && !step.ended;
        if !just_ended {
            return false;
        }
        if !self.reported {
            self.report(step.worked_s);
        }
        if step.is_begin() && (self.timed || self.requested) {
            return false;
        }
        self.buffers += step.buffers;
        self.timed |= step.timed;
        self.requested |= step.requested;
        true
    }

    fn report(&mut self, worked_s: f64) {
        if let Some(until_s) = self.until_s.filter(|_| worked_s > 0.0) {
            self.from_s = self.from_s.min(until_s - worked_s);
            self.reported = true;
        }
    }
}

/// The checkpoints of the whole run, warm-up included.
pub(super) fn events(facts: &Facts<'_>) -> Vec<EventRecord> {
    let looks = looks(facts.samples.of(checkpointer::SOURCE));
    let last_s = looks.last().map_or(0.0, |look| look.at_s);
    let event = |checkpoint: &Checkpoint| {
        let why = match (checkpoint.timed, checkpoint.requested) {
            (true, false) => "timed ",
            (false, true) => "requested ",
            (true, true) => "timed and requested ",
            (false, false) => "",
        };
        let end = if checkpoint.until_s.is_none() { ", not complete at the end of the run" } else { "" };
        EventRecord {
            kind: KIND.to_owned(),
            text: format!("{why}checkpoint, {} buffers written{end}", number(checkpoint.buffers.round())),
            from_s: checkpoint.from_s,
            until_s: Some(checkpoint.until_s.unwrap_or(last_s)),
        }
    };
    checkpoints(&looks).iter().map(event).collect()
}

/// Returns true if it was completed, according to its text.
pub(super) fn is_complete(event: &EventRecord) -> bool {
    event.kind == KIND && !event.text.contains("not complete")
}

fn checkpoints(looks: &[CheckpointSample]) -> Vec<Checkpoint> {
    let mut found: Vec<Checkpoint> = Vec::new();
    for step in looks.windows(2).filter_map(|pair| Step::between(&pair[0], &pair[1])) {
        let taken = match found.last_mut() {
            Some(open) if open.until_s.is_none() => {
                open.go_on(&step);
                true
            }
            Some(last) => last.take_late(&step),
            None => false,
        };
        if !taken && (step.ended || step.is_begin()) {
            let mut begun = Checkpoint::of(&step);
            begun.go_on(&step);
            found.push(begun);
        }
    }
    // One that was due and found nothing to do is counted, and is none.
    found.retain(|checkpoint| checkpoint.until_s.is_some() || checkpoint.buffers > 0.0);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    const COLUMNS: [&str; 6] =
        ["num_timed", "num_requested", "write_time_ms", "sync_time_ms", "buffers_written", "redo_lsn_bytes"];

    fn found(looks: &[[&str; 6]]) -> Vec<(String, f64, f64)> {
        let looks: Vec<(f64, &[&str])> = looks.iter().enumerate().map(|(at, l)| (at as f64, l.as_slice())).collect();
        let run = Run::new().looks("checkpointer", &COLUMNS, &looks);
        run.ask(events).into_iter().map(|e| (e.text, e.from_s, e.until_s.unwrap())).collect()
    }

    fn event(text: &str, from_s: f64, until_s: f64) -> (String, f64, f64) {
        (text.to_owned(), from_s, until_s)
    }

    #[test]
    fn a_spread_checkpoint_goes_from_its_count_to_its_new_redo_position() {
        let looks = [
            ["4", "1", "0", "0", "10", "100"],
            ["5", "1", "0", "0", "10", "100"],
            ["5", "1", "0", "0", "60", "100"],
            ["5", "1", "0", "0", "90", "100"],
            ["5", "1", "2900", "100", "90", "700"],
            ["5", "1", "2900", "100", "90", "700"],
        ];
        assert_eq!(found(&looks), [event("timed checkpoint, 80 buffers written", 1.0, 4.0)]);
    }

    #[test]
    fn a_hurried_one_reports_all_at_its_end_or_a_look_later() {
        let at_once = [
            ["4", "1", "0", "0", "10", "100"],
            ["4", "2", "300", "100", "50", "700"],
            ["4", "2", "300", "100", "50", "700"],
        ];
        assert_eq!(found(&at_once), [event("requested checkpoint, 40 buffers written", 0.0, 1.0)]);
        let later = [
            ["4", "1", "0", "0", "10", "100"],
            ["4", "1", "0", "0", "10", "700"],
            ["4", "2", "2300", "100", "50", "700"],
        ];
        let [(text, from_s, until_s)] = found(&later).try_into().unwrap();
        assert_eq!((text.as_str(), until_s), ("requested checkpoint, 40 buffers written", 1.0));
        assert!((from_s + 1.4).abs() < 1e-9, "{from_s}");
    }

    #[test]
    fn without_the_control_file_the_time_it_took_shows_its_end() {
        let looks = [
            ["4", "1", "0", "0", "10", ""],
            ["5", "1", "0", "0", "30", ""],
            ["5", "1", "1500", "0", "40", ""],
            ["5", "2", "1500", "0", "40", ""],
            ["5", "2", "1500", "0", "70", ""],
        ];
        assert_eq!(
            found(&looks),
            [
                event("timed checkpoint, 30 buffers written", 0.5, 2.0),
                event("requested checkpoint, 30 buffers written, not complete at the end of the run", 3.0, 4.0)
            ]
        );
    }

    #[test]
    fn one_that_had_begun_before_is_seen_by_its_end() {
        let looks = [
            ["4", "1", "0", "0", "10", "100"],
            ["4", "1", "0", "0", "20", "100"],
            ["4", "1", "60000", "0", "30", "700"],
        ];
        assert_eq!(found(&looks), [event("checkpoint, 10 buffers written", -58.0, 2.0)]);
    }

    #[test]
    fn nothing_to_do_and_a_reset_are_no_checkpoints() {
        assert_eq!(found(&[["4", "1", "0", "0", "10", "100"], ["5", "1", "0", "0", "10", "100"]]), []);
        assert_eq!(found(&[["4", "1", "9", "9", "10", "100"], ["0", "0", "0", "0", "0", "100"]]), []);
        assert_eq!(found(&[["4", "1", "0", "0", "10", "100"]; 3]), []);
    }
}
