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
pub enum Event<'a> {
    /// A step began or ended, or something is worth knowing.
    Note {
        /// As people read it.
        text: &'a str,
    },
    /// Something that a reader must know before trusting the figures.
    Warning {
        /// As people read it.
        text: &'a str,
    },
    /// The user has asked the run to end.
    Ending {
        /// As people read it.
        text: &'a str,
    },
    /// A step of several statements goes on.
    Step {
        /// What is done.
        step: &'a str,
        /// Statements that are done.
        done: usize,
        /// All of them.
        of: usize,
    },
    /// A load goes on to its next phase.
    LoadPhase {
        /// What is done in it.
        phase: &'a str,
    },
    /// A load begins, or goes on where it was interrupted.
    LoadBegins {
        /// Rows of all tables, estimated.
        rows_expected: u64,
        /// Rows that are there already.
        rows_kept: u64,
    },
    /// Rows of a table have been sent.
    LoadRows {
        /// The table.
        table: &'a str,
        /// Its rows so far.
        rows: u64,
    },
    /// Checks begin.
    ChecksBegin,
    /// A query of the checks is done.
    Checking {
        /// The check that the next query belongs to.
        check: &'a str,
        /// Queries that are done.
        done: usize,
        /// All of them.
        of: usize,
        /// The share of the work that is done, 0 to 1.
        share: f64,
    },
    /// The clients are about to connect.
    DriveBegins {
        /// What the run does.
        plan: &'a Plan,
        /// Kinds of transactions.
        transactions: &'a [String],
    },
    /// A connection of the clients was opened.
    Connecting {
        /// Connections that are open.
        connected: usize,
        /// All that will be.
        connections: u32,
    },
    /// An interval of the drive ended.
    Interval {
        /// What was counted in it.
        #[serde(serialize_with = "write_interval")]
        interval: &'a Interval,
    },
    /// A source of samples was read.
    Sample {
        /// Seconds into the run.
        at_s: f64,
        /// Its rows.
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
pub trait EventSink: Send + Sync {
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl EventSink for Silent {
    fn event(&self, _: &Event<'_>) {}
}
