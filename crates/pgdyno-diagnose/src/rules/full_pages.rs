//! Most of the WAL is full images of pages, which the first change after a checkpoint writes.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_samples::{checkpointer, wal};
use pgdyno_text::brief::{number, percent};
use pgdyno_text::units::mean_bytes;

use super::{UNKNOWN, with_settings};
use crate::explained::Explained;
use crate::facts::Facts;

/// A smaller share of the WAL than this is as it should be.
const MOST: f64 = 0.5;

/// Less WAL than this, a second, is no load.
const WAL_MIN: f64 = 1024.0 * 1024.0;

/// The size of a page. A server that was built with another has so many more or less.
const PAGE: f64 = 8192.0;

/// Estimated CPU time of an image, from copying it to writing it.
const IMAGE_S: f64 = 8e-6;

/// Full images in the WAL of the window.
struct Images {
    /// Their share of the WAL, 0 to 1.
    share: f64,
    per_s: f64,
    wal_bytes_per_s: f64,
}

impl Images {
    /// Returns those of a run whose WAL is mostly images, again and again.
    fn of(facts: &Facts<'_>) -> Option<Self> {
        // The size of compressed images is unknown.
        if facts.setting("wal_compression").is_some_and(|value| value != "off") {
            return None;
        }
        let wal_bytes_per_s = facts.rate(wal::WAL_BYTES).filter(|written| *written >= WAL_MIN)?;
        let per_s = facts.rate(wal::WAL_FPI)?;
        let share = (per_s * PAGE / wal_bytes_per_s).min(1.0);
        // Without a checkpoint in the window they are the images after the one before it, and become fewer by themselves.
        let is_over = checkpoints(facts).is_some_and(|checkpoints| checkpoints < 0.5);
        (share >= MOST && !is_over).then_some(Self { share, per_s, wal_bytes_per_s })
    }

    /// Those of a run with two checkpoints or more: after one, they are as they should be.
    fn again_and_again(facts: &Facts<'_>) -> Option<Self> {
        let is_repeated = checkpoints(facts).is_some_and(|checkpoints| checkpoints >= 1.5);
        Self::of(facts).filter(|_| is_repeated)
    }
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let images = Images::of(facts)?;
    let what = "set checkpoints further apart (max_wal_size, checkpoint_timeout), or turn wal_compression on";
    let (per_s, written) = (number(images.per_s), mean_bytes(images.wal_bytes_per_s));
    Some(FindingRecord {
        rule: "full-pages".to_owned(),
        text: format!("about {} of the WAL was full-page images", percent(images.share)),
        weight: UNKNOWN,
        also_seen: true,
        evidence: vec![format!("{per_s} images a second, in {written} of WAL a second")],
        advice: with_settings(facts, what, &["max_wal_size", "checkpoint_timeout", "wal_compression"]),
        ..FindingRecord::default()
    })
}

/// Images are copied, summed and written.
pub(crate) fn of_cpu(facts: &Facts<'_>) -> Option<Explained> {
    let images = Images::again_and_again(facts)?;
    let share = (images.per_s * IMAGE_S / facts.cpus_of_clients()).min(1.0);
    Some(Explained { share, certainty: Certainty::Consistent })
}

/// What goes through the WAL buffers and is flushed is mostly images.
pub(crate) fn of_wal(facts: &Facts<'_>) -> Option<Explained> {
    Images::again_and_again(facts).map(|images| Explained { share: images.share, certainty: Certainty::Consistent })
}

/// Checkpoints that were begun within the window, where the server counts them.
fn checkpoints(facts: &Facts<'_>) -> Option<f64> {
    let counts = [checkpointer::NUM_TIMED, checkpointer::NUM_REQUESTED];
    let rates: Option<Vec<f64>> = counts.iter().map(|column| facts.rate(*column)).collect();
    Some(rates?.iter().sum::<f64>() * facts.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(images: f64) -> Run {
        let run = Run::new().waits(&[("IO", "WALSync", 4.0)]).setting("wal_compression", "off");
        run.counters("wal", &[("wal_bytes", 8_192_000.0), ("wal_fpi", images)])
    }

    #[test]
    fn wal_that_is_mostly_images_is_seen_beside_the_ranked_causes() {
        let found = run(800.0).finds(look);
        assert!(found.also_seen && found.text.starts_with("about 80 % of the WAL"), "{found:?}");
        assert!(found.advice.unwrap().ends_with("(wal_compression is off)"));
    }

    #[test]
    fn images_of_before_the_window_are_nothing() {
        let counted =
            |requested: f64| run(800.0).counters("checkpointer", &[("num_timed", 0.0), ("num_requested", requested)]);
        counted(0.0).finds_nothing(look);
        counted(0.2).finds(look);
    }

    #[test]
    fn few_images_compressed_ones_and_little_wal_are_nothing() {
        run(300.0).finds_nothing(look);
        run(800.0).setting("wal_compression", "lz4").finds_nothing(look);
        run(800.0).counters("wal", &[("wal_bytes", 8192.0), ("wal_fpi", 1.0)]).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
