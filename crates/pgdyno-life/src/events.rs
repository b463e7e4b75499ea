//! Events of a run, as plain data. A view, a test and another machine receive the same ones.

use pgdyno_measure::Interval;
use pgdyno_plan::Plan;
use pgdyno_results::IntervalRecord;
use pgdyno_server::Frame;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// An event of a run.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent<'a> {
    /// How a step is done, for a reader who wants to know more.
    Detail {
        /// The text for people.
        text: &'a str,
    },
    /// A step began or ended, or there is something worth knowing.
    Note {
        /// The text for people.
        text: &'a str,
    },
    /// A reader must know this before trusting the figures.
    Warning {
        /// The text for people.
        text: &'a str,
    },
    /// A step was left out that changes none of the figures.
    LeftOut {
        /// The text for people.
        text: &'a str,
    },
    /// The server has not answered a statement for some time, outside of the measured window.
    Waiting {
        /// What it waits for, for people.
        text: &'a str,
    },
    /// The user has asked the run to end.
    Ending {
        /// The text for people.
        text: &'a str,
    },
    /// Progress of a step of several statements.
    Step {
        /// The step.
        step: &'a str,
        /// Number of completed statements.
        done: usize,
        /// Number of all statements.
        of: usize,
    },
    /// A study measures.
    Study {
        /// What it does now: `unit 3, slice 2 of 4: B`.
        now: &'a str,
        /// What is known so far: sentences, one in each line.
        so_far: &'a str,
        /// How far it is: of its budget in seconds, or of its runs.
        done: f64,
        /// The budget, or the most runs.
        of: f64,
    },
    /// A load enters its next phase.
    LoadPhase {
        /// The phase.
        phase: &'a str,
    },
    /// A load starts, or resumes after an interruption.
    LoadBegins {
        /// Rows of all tables, estimated.
        rows_expected: u64,
        /// Rows that are already loaded.
        rows_kept: u64,
    },
    /// Rows of a table have been sent.
    LoadRows {
        /// The table.
        table: &'a str,
        /// Its rows so far.
        rows: u64,
    },
    /// Checks start.
    ChecksBegin,
    /// A query of the checks is complete.
    Checking {
        /// The check that the next query belongs to.
        check: &'a str,
        /// Number of completed queries.
        done: usize,
        /// Number of all queries.
        of: usize,
        /// Completed share of the work, 0 to 1.
        share: f64,
    },
    /// The clients are about to connect.
    DriveBegins {
        /// The plan of the run.
        plan: &'a Plan,
        /// Kinds of transactions.
        transactions: &'a [String],
    },
    /// A client's connection was opened.
    Connecting {
        /// Number of open connections.
        connected: usize,
        /// Number of connections when all are open.
        connections: u32,
    },
    /// An interval of the drive ended.
    Interval {
        /// Its counts.
        #[serde(serialize_with = "write_interval")]
        interval: &'a Interval,
    },
    /// A source of samples was read.
    Sample {
        /// Seconds into the run.
        at_s: f64,
        /// The rows that were read.
        #[serde(serialize_with = "write_frame")]
        frame: &'a Frame,
    },
    /// The load, the checks, the step, the drive or the study whose progress was shown has ended.
    Ended,
}

/// Serialises an interval as run directories store it.
fn write_interval<S: Serializer>(interval: &&Interval, serializer: S) -> Result<S::Ok, S::Error> {
    IntervalRecord::from(*interval).serialize(serializer)
}

/// Serialises the rows of a source. Their time is `at_s` of the event.
fn write_frame<S: Serializer>(frame: &&Frame, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Frame", 3)?;
    fields.serialize_field("source", frame.source)?;
    fields.serialize_field("columns", frame.columns)?;
    fields.serialize_field("rows", &frame.rows)?;
    fields.end()
}

/// Receives the events of a run, from several threads, in the order in which they happen. The run waits for it.
pub trait EventSink: Send + Sync {
    /// Takes an event.
    fn event(&self, event: &RunEvent<'_>);

    /// Sends a [`RunEvent::Note`].
    fn note(&self, text: &str) {
        self.event(&RunEvent::Note { text });
    }

    /// Sends a [`RunEvent::Detail`].
    fn detail(&self, text: &str) {
        self.event(&RunEvent::Detail { text });
    }

    /// Sends a [`RunEvent::Warning`].
    fn warn(&self, text: &str) {
        self.event(&RunEvent::Warning { text });
    }

    /// Sends a [`RunEvent::LeftOut`].
    fn left_out(&self, text: &str) {
        self.event(&RunEvent::LeftOut { text });
    }

    /// Sends a [`RunEvent::Step`].
    fn step(&self, step: &str, done: usize, of: usize) {
        self.event(&RunEvent::Step { step, done, of });
    }

    /// Sends a [`RunEvent::Ended`].
    fn ended(&self) {
        self.event(&RunEvent::Ended);
    }
}

/// A sink that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl EventSink for Silent {
    fn event(&self, _: &RunEvent<'_>) {}
}
