//! What a run tells while it goes on, as plain data. A view, a test and another machine receive the same.

use pgdyno_measure::Interval;
use pgdyno_plan::Plan;
use pgdyno_results::IntervalRecord;
use pgdyno_server::Frame;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// Something that happened in a run.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event<'a> {
    /// A step began or ended, or something is worth knowing.
    Note { text: &'a str },
    /// Something that a reader must know before trusting the figures.
    Warning { text: &'a str },
    /// The user has asked the run to end.
    Ending { text: &'a str },
    /// Of a step's `of` statements so many are `done`.
    Step { step: &'a str, done: usize, of: usize },
    /// A load goes on to its next phase.
    LoadPhase { phase: &'a str },
    /// A load of about so many rows begins, or goes on where so many are there.
    LoadBegins { rows_expected: u64, rows_kept: u64 },
    /// A table has so many rows so far.
    LoadRows { table: &'a str, rows: u64 },
    /// Checks begin.
    ChecksBegin,
    /// Of the checks' `of` queries so many are `done`, which is this share of the work; the next one is of `check`.
    Checking { check: &'a str, done: usize, of: usize, share: f64 },
    /// The clients are about to connect.
    DriveBegins { plan: &'a Plan, transactions: &'a [String] },
    /// So many connections of the clients are open.
    Connecting { connected: usize, connections: u32 },
    /// An interval of the drive ended.
    Interval {
        #[serde(serialize_with = "write_interval")]
        interval: &'a Interval,
    },
    /// A source of samples was read, `at_s` seconds into the run.
    Sample {
        at_s: f64,
        #[serde(serialize_with = "write_frame")]
        frame: &'a Frame,
    },
    /// The load, the checks, the step or the drive whose progress was told has ended.
    Ended,
}

/// Writes an interval as run directories have it.
fn write_interval<S: Serializer>(interval: &&Interval, serializer: S) -> Result<S::Ok, S::Error> {
    IntervalRecord::from(*interval).serialize(serializer)
}

/// Writes the rows of a source. Their moment is `at_s` of the event.
fn write_frame<S: Serializer>(frame: &&Frame, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Frame", 3)?;
    fields.serialize_field("source", frame.source)?;
    fields.serialize_field("columns", frame.columns)?;
    fields.serialize_field("rows", &frame.rows)?;
    fields.end()
}

/// Receives the events of a run, from several threads and in the order in which they happen. The run waits for it.
pub(crate) trait EventSink: Send + Sync {
    /// Takes one event.
    fn event(&self, event: &Event<'_>);

    /// Tells a [`Event::Note`].
    fn note(&self, text: &str) {
        self.event(&Event::Note { text });
    }

    /// Tells a [`Event::Warning`].
    fn warn(&self, text: &str) {
        self.event(&Event::Warning { text });
    }

    /// Tells a [`Event::Step`].
    fn step(&self, step: &str, done: usize, of: usize) {
        self.event(&Event::Step { step, done, of });
    }

    /// Tells that what was told of has ended.
    fn ended(&self) {
        self.event(&Event::Ended);
    }
}

/// A sink that forgets all events.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silent;

#[cfg(test)]
impl EventSink for Silent {
    fn event(&self, _: &Event<'_>) {}
}
