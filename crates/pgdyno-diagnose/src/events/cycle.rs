//! Warns where no checkpoint was completed within the window.

use pgdyno_results::{EventRecord, Warning};
use pgdyno_samples::{checkpointer, wal};

use super::checkpoint;
use crate::facts::Facts;

/// A window shorter than this, in seconds, is called short as it is.
const SHORT_S: f64 = 10.0;

/// Less WAL than this leaves a checkpoint nothing to do that would be seen.
const WAL_MIN: f64 = 16.0 * 1024.0 * 1024.0;

/// After a checkpoint the first change of each page writes it as a whole, so that a short window has more WAL a second than a longer one.
const WAL_SLOWS_DOWN: f64 = 1.5;

/// Says so where no checkpoint was completed within the measured window, although the work makes some necessary: their
/// writes, and the full images of pages after them, are not in the figures.
pub(super) fn warning(facts: &Facts<'_>, events: &[EventRecord]) -> Option<Warning> {
    let within = |event: &&EventRecord| event.until_s.is_some_and(|at| (facts.from_s..=facts.until_s).contains(&at));
    let complete = events.iter().filter(within).any(checkpoint::is_complete);
    // Without samples it is unknown; a checkpoint within the window is enough.
    if facts.samples.of(checkpointer::SOURCE).is_empty() || complete || facts.seconds() < SHORT_S {
        return None;
    }
    let timeout_s = facts.setting_seconds("checkpoint_timeout")?;
    let written = facts.summary.wal_bytes.map(|bytes| bytes as f64);
    let written = written.or_else(|| Some(facts.rate(wal::LSN_BYTES)? * facts.seconds()))?;
    if written < WAL_MIN {
        return None;
    }
    // The server begins one when the WAL since the last one began is max_wal_size / (1 + checkpoint_completion_target).
    let target = facts.setting("checkpoint_completion_target").and_then(|t| t.parse().ok()).unwrap_or(0.9);
    let by_wal_s = facts.setting_bytes("max_wal_size").map(|size| size / (1.0 + target) / (written / facts.seconds()));
    let cycle_s = by_wal_s.map_or(timeout_s, |by_wal_s| timeout_s.min(by_wal_s * WAL_SLOWS_DOWN));
    Some(Warning::NoCheckpoint {
        // A checkpoint takes its share of the time until the next one is due.
        window_s: cycle_s * (1.0 + target),
        checkpoint_timeout_s: timeout_s,
        max_wal_size: facts.setting("max_wal_size").map(str::to_owned),
        wal_bytes: written,
        measured_s: facts.seconds(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    /// One that writes so much WAL in its ten seconds.
    fn run(wal: u64) -> Run {
        let mut run = Run::new().setting("checkpoint_timeout", "5min").setting("max_wal_size", "1GB");
        run.summary().wal_bytes = Some(wal);
        let still = [
            ("num_timed", 1.0),
            ("num_requested", 0.0),
            ("write_time_ms", 0.0),
            ("sync_time_ms", 0.0),
            ("buffers_written", 5.0),
        ];
        run.gauges("checkpointer", &still)
    }

    #[test]
    fn a_window_without_a_checkpoint_says_so_and_what_would_help() {
        let warning = run(100 << 20).ask(|facts| warning(facts, &[])).unwrap().to_string();
        // 539 MiB at 10 MiB a second: begun after 54 s, or half as long again with less WAL later, and complete nine tenths of that later.
        for part in ["(-T 3min to have one)", "is 5 min, max_wal_size is 1GB", "100.0 MiB of WAL were written in 10 s"]
        {
            assert!(warning.contains(part), "{part}: {warning}");
        }
        let warning = run(20 << 20).ask(|facts| super::warning(facts, &[])).unwrap().to_string();
        assert!(warning.contains("(-T 10min to"), "{warning}");
    }

    #[test]
    fn a_checkpoint_little_wal_and_no_samples_need_no_word() {
        let event = |text: &str, until_s| EventRecord {
            kind: checkpoint::KIND.to_owned(),
            text: text.to_owned(),
            from_s: 0.0,
            until_s: Some(until_s),
        };
        let reported = |run: &Run, events: &[EventRecord]| run.ask(|facts| warning(facts, events)).is_some();
        let run_now = run(100 << 20);
        assert!(!reported(&run_now, &[event("timed checkpoint", 5.0)]));
        assert!(reported(&run_now, &[event("timed checkpoint", 1.0)]), "one in the warm-up");
        assert!(reported(&run_now, &[event("timed checkpoint, not complete at the end of the run", 5.0)]));
        assert!(!reported(&run(1 << 20), &[]));
        let mut blind = run(100 << 20);
        blind.samples = pgdyno_results::Samples::default();
        assert!(!reported(&blind, &[]));
    }
}
