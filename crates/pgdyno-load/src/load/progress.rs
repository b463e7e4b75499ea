//! Progress of a load.

use std::fmt;

/// A phase of a load. Phases overlap: a loader that finds no more rows to load begins with the indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadPhase {
    /// What is in the way is dropped, and the load is marked as begun.
    Prepare,
    /// SQL that makes the schema runs.
    Schema,
    /// Tables are created and rows copied; or SQL that makes the rows runs.
    Rows,
    /// Tables that were filled unlogged become logged.
    Log,
    /// Tables whose rows COPY could not freeze are vacuumed, such as those that several loaders filled.
    Freeze,
    /// Primary keys and indexes.
    Indexes,
    /// Statistics for the planner.
    Analyze,
    /// Foreign keys.
    ForeignKeys,
    /// Procedures and functions.
    Routines,
    /// The server writes out its dirty buffers.
    Checkpoint,
    /// The data is marked as complete.
    Stamp,
}

impl LoadPhase {
    /// Returns the action, to follow "failed to".
    pub(crate) fn attempt(self) -> &'static str {
        match self {
            Self::Prepare => "prepare the load",
            Self::Schema => "create the schema",
            Self::Rows => "load the rows",
            Self::Log => "set the tables logged",
            Self::Freeze => "vacuum",
            Self::Indexes => "build the indexes",
            Self::Analyze => "analyze",
            Self::ForeignKeys => "add the foreign keys",
            Self::Routines => "create the routines",
            Self::Checkpoint => "do a checkpoint",
            Self::Stamp => "stamp the data",
        }
    }
}

impl fmt::Display for LoadPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Prepare => "prepare",
            Self::Schema => "schema",
            Self::Rows => "rows",
            Self::Log => "set logged",
            Self::Freeze => "freeze",
            Self::Indexes => "indexes",
            Self::Analyze => "analyze",
            Self::ForeignKeys => "foreign keys",
            Self::Routines => "routines",
            Self::Checkpoint => "checkpoint",
            Self::Stamp => "stamp",
        })
    }
}

/// A step of progress. Reported from several threads, and often: a viewer decides when to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgress<'a> {
    /// The work to do, reported once, before any rows.
    Plan {
        /// Tables to load.
        tables: usize,
        /// Approximate rows of all tables.
        rows_expected: u64,
        /// Rows of an interrupted load that are kept.
        rows_kept: u64,
        /// Connections that load.
        loaders: usize,
    },
    /// How the largest table is filled, and why, in a sentence; not reported by a load on one connection.
    Way(&'a str),
    /// Objects in the way were dropped, each with its kind: `table orders`.
    Dropped(&'a str),
    /// Data of other workloads is about to be dropped: what, and all of its objects.
    Dropping(&'a str),
    /// A phase begins; earlier ones may not have ended.
    Phase(LoadPhase),
    /// Rows of one table were sent.
    Table {
        /// The table.
        name: &'a str,
        /// Rows that this load has sent so far.
        rows: u64,
        /// Approximate rows that it will have.
        rows_expected: u64,
        /// Bytes of COPY data sent so far.
        bytes: u64,
    },
    /// A statement of a phase without rows is done.
    Step {
        /// The phase.
        phase: LoadPhase,
        /// Statements that are done.
        done: usize,
        /// Number of statements.
        total: usize,
    },
}
