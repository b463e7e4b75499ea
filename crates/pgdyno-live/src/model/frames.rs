//! The latest frames of each source of samples, and differences of two of them.

use std::collections::{BTreeMap, VecDeque};

use pgdyno_samples::{SampleColumn, SampleSource};
use pgdyno_server::Frame;

/// Number of frames of a source that are kept: the view shows the last seconds.
const KEPT: usize = 6;

/// A frame and its time in the run.
#[derive(Clone, Debug)]
struct Kept {
    at_s: f64,
    frame: Frame,
}

impl Kept {
    /// Returns the rows, whose cells are found by the name of a column.
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.frame.rows.iter().map(|cells| Row { columns: self.frame.columns, cells })
    }
}

/// A row of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    columns: &'a [&'static str],
    cells: &'a [Option<String>],
}

impl<'a> Row<'a> {
    /// Returns a cell; `None` if it is empty or there is no such column.
    pub(crate) fn text(&self, column: SampleColumn) -> Option<&'a str> {
        let nth = self.columns.iter().position(|known| *known == column.name)?;
        self.cells.get(nth)?.as_deref()
    }

    /// Returns a cell as a number.
    pub(crate) fn number(&self, column: SampleColumn) -> Option<f64> {
        self.text(column)?.parse().ok()
    }
}

/// The latest frames by source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    sources: BTreeMap<&'static str, VecDeque<Kept>>,
}

impl Frames {
    /// Adds a frame that was taken `at_s` seconds into the run.
    pub(crate) fn keep(&mut self, at_s: f64, frame: &Frame) {
        let kept = self.sources.entry(frame.source).or_default();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Kept { at_s, frame: frame.clone() });
    }

    /// Returns when the last frame of `source` was taken.
    pub(crate) fn last_s(&self, source: SampleSource) -> Option<f64> {
        self.sources.get(source.name)?.back().map(|kept| kept.at_s)
    }

    /// Returns the rows of the last frame of `source`; none without a frame.
    pub(crate) fn rows(&self, source: SampleSource) -> impl Iterator<Item = Row<'_>> {
        self.sources.get(source.name).and_then(VecDeque::back).into_iter().flat_map(Kept::rows)
    }

    /// Returns the rows of each frame of `source` that was taken after `since_s`, the oldest first.
    pub(crate) fn since(
        &self,
        source: SampleSource,
        since_s: f64,
    ) -> impl Iterator<Item = impl Iterator<Item = Row<'_>>> {
        self.sources.get(source.name).into_iter().flatten().filter(move |kept| kept.at_s > since_s).map(Kept::rows)
    }

    /// Returns a number of the only row of the last frame.
    pub(crate) fn gauge(&self, column: SampleColumn) -> Option<f64> {
        self.sources.get(column.source)?.back()?.rows().next()?.number(column)
    }

    /// Returns the growth of a counter of the only row between the last two frames. `None` if it fell: statistics were
    /// reset.
    pub(crate) fn growth(&self, column: SampleColumn) -> Option<f64> {
        let (before, last) = self.last_two(column.source)?;
        let grown = last.rows().next()?.number(column)? - before.rows().next()?.number(column)?;
        (grown >= 0.0).then_some(grown)
    }

    /// Returns the growth per second.
    pub(crate) fn rate(&self, column: SampleColumn) -> Option<f64> {
        let (before, last) = self.last_two(column.source)?;
        let seconds = last.at_s - before.at_s;
        if seconds > 0.0 { self.growth(column).map(|grown| grown / seconds) } else { None }
    }

    fn last_two(&self, source: &str) -> Option<(&Kept, &Kept)> {
        let mut newest = self.sources.get(source)?.iter().rev();
        let (last, before) = (newest.next()?, newest.next()?);
        Some((before, last))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use pgdyno_samples::{io, waits, wal};

    use super::*;

    fn frame(source: &'static str, columns: &'static [&'static str], rows: &[&[&str]]) -> Frame {
        let cell = |text: &&str| (!text.is_empty()).then(|| (*text).to_owned());
        let rows = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        Frame { source, at: Instant::now(), columns, rows }
    }

    #[test]
    fn two_frames_make_a_rate() {
        let mut frames = Frames::default();
        frames.keep(1.0, &frame("wal", &["lsn_bytes", "wal_fpi"], &[&["1000", ""]]));
        assert_eq!((frames.gauge(wal::LSN_BYTES), frames.rate(wal::LSN_BYTES)), (Some(1000.0), None));
        frames.keep(3.0, &frame("wal", &["lsn_bytes", "wal_fpi"], &[&["5000", ""]]));
        assert_eq!((frames.growth(wal::LSN_BYTES), frames.rate(wal::LSN_BYTES)), (Some(4000.0), Some(2000.0)));
        assert_eq!(
            (frames.rate(wal::WAL_FPI), frames.rate(wal::WAL_BYTES), frames.rate(io::READS)),
            (None, None, None)
        );
        frames.keep(4.0, &frame("wal", &["lsn_bytes", "wal_fpi"], &[&["10", ""]]));
        assert_eq!(frames.rate(wal::LSN_BYTES), None, "a reset is no rate");
    }

    #[test]
    fn only_the_last_frames_are_kept() {
        let mut frames = Frames::default();
        for second in 1..=20 {
            frames.keep(f64::from(second), &frame("waits", &["samples"], &[&["1"], &["2"]]));
        }
        assert_eq!(frames.since(waits::SOURCE, 0.0).count(), KEPT);
        assert_eq!(frames.since(waits::SOURCE, 18.0).count(), 2);
        assert_eq!((frames.rows(waits::SOURCE).count(), frames.last_s(waits::SOURCE)), (2, Some(20.0)));
    }
}
