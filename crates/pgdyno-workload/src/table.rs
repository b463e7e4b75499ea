//! Tables, their rows, and stored routines.

use std::ops::Range;

use pgdyno_wire::Statement;

use crate::{ColumnType, CopyBuf};

/// How many rows a table holds right after the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCount {
    /// Exactly so many.
    Exact(u64),
    /// Drawn at random between these.
    Between(u64, u64),
}

impl RowCount {
    /// Whether `rows` fits.
    #[must_use]
    pub fn admits(self, rows: u64) -> bool {
        match self {
            Self::Exact(n) => rows == n,
            Self::Between(low, high) => (low..=high).contains(&rows),
        }
    }

    /// The number in the middle, for progress.
    #[must_use]
    pub fn expected(self) -> u64 {
        match self {
            Self::Exact(n) => n,
            Self::Between(low, high) => low.midpoint(high),
        }
    }
}

impl std::fmt::Display for RowCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exact(n) => write!(f, "{n}"),
            Self::Between(low, high) => write!(f, "{low} to {high}"),
        }
    }
}

/// Where the rows of a table live on a server that spreads tables over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Each row on the node that the value of a column leads to; all tables of a data set that are distributed by a
    /// column lie together.
    Column {
        /// The column.
        name: &'static str,
        /// Into how many shards the rows are dealt.
        shards: u32,
    },
    /// All rows on every node (Citus: a reference table).
    Everywhere,
}

/// The partitions of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Partitions {
    /// It has none.
    #[default]
    None,
    /// The server finds the partition of each row: COPY cannot freeze rows on this way.
    Routed,
    /// It is known which rows belong to which: each partition can be filled by itself, with frozen rows.
    Known(Vec<Partition>),
}

/// A partition whose rows are known beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name, without a schema.
    pub name: String,
    /// The chunks that hold its rows, and no others; none where it has no rows.
    pub chunks: Range<u64>,
    /// What becomes of it once all rows are there, before the statements of the whole table, which find their part done:
    /// its primary key, say. Those of different partitions may run side by side.
    pub indexes: Vec<String>,
}

impl Partitions {
    /// Those of which it is known which rows they hold.
    #[must_use]
    pub fn known(&self) -> &[Partition] {
        match self {
            Self::Known(partitions) => partitions,
            Self::None | Self::Routed => &[],
        }
    }
}

/// A table to create and load.
pub struct Table {
    /// Its name, without a schema.
    pub name: &'static str,
    /// `CREATE TABLE …`, without constraints that need an index.
    pub ddl: String,
    /// What follows once the rows are there: primary keys and indexes. Each stands alone.
    pub indexes: Vec<String>,
    /// What cannot be made until all tables have their indexes: foreign keys.
    pub foreign_keys: Vec<String>,
    /// Rows right after the load.
    pub rows: RowCount,
    /// Whether runs add or remove rows; where they do not, there are always as many as were loaded.
    pub grows: bool,
    /// Bytes of heap and indexes, estimated: larger tables are loaded first.
    pub bytes: u64,
    /// Whether it has partitions, which its DDL creates.
    pub partitions: Partitions,
    /// Where its rows live, on a server that can distribute tables; `None` leaves the table where it is created.
    pub distribution: Option<Distribution>,
    /// All columns, where COPY's binary form of the rows costs the server less; none where rows go as text.
    pub binary: Vec<ColumnType>,
    /// Where the rows come from; `None` for a table that starts empty.
    pub source: Option<Box<dyn RowSource>>,
}

/// Rows in chunks, each a pure function of its number: any number of loaders give the same table.
pub trait RowSource: Send + Sync {
    /// How many chunks there are.
    fn chunks(&self) -> u64;
    /// Appends the rows of one chunk, `0..chunks()`.
    fn write(&self, chunk: u64, out: &mut CopyBuf);
}

/// Another program that makes tables of the same names, which pgdyno can drive but did not load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker {
    /// What it is called.
    pub name: &'static str,
    /// The names of its procedures or functions: where all of them are beside all tables, it was this program.
    pub routines: &'static [&'static str],
    /// The command that drives its data as it is.
    pub drive: &'static str,
    /// The schema in which the workload's routines are kept apart from its own: the value of parameter
    /// [`Maker::ROUTINE_SCHEMA`] for its data.
    pub routine_schema: &'static str,
    /// Checks that its data is known to break, right after its load or by its runs, each with the reason.
    pub deviations: &'static [(&'static str, &'static str)],
}

impl Maker {
    /// The name of the parameter that says where routines are.
    pub const ROUTINE_SCHEMA: &'static str = "routine-schema";

    /// Why a check need not hold where this program is at work.
    #[must_use]
    pub fn deviation(&self, check: &str) -> Option<&'static str> {
        self.deviations.iter().find(|(name, _)| *name == check).map(|(_, why)| *why)
    }
}

/// A stored procedure or function.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Name and argument types, as `DROP ROUTINE` wants them.
    pub signature: &'static str,
    /// `CREATE OR REPLACE …`.
    pub ddl: String,
    /// On a server that can distribute tables: the routine runs on the node of the rows that its argument of this
    /// number, from 1, leads to in this table.
    pub distribution: Option<(u32, &'static str)>,
    /// A call of it that only reads: by it one learns whether the server sends calls to the node of their rows.
    pub read_only_call: Option<ReadOnlyCall>,
}

/// A call that only reads. Its first parameter is a value of the distribution column.
#[derive(Clone, Debug)]
pub struct ReadOnlyCall {
    /// The call.
    pub statement: Statement,
    /// Its parameters after the first.
    pub parameters: Vec<i64>,
}

/// The routines of a data set.
#[derive(Clone, Debug, Default)]
pub struct Routines {
    /// The schema that holds them and nothing else; `None`: they are beside the tables.
    pub schema: Option<&'static str>,
    /// The routines, in the order of their creation.
    pub list: Vec<Routine>,
}
