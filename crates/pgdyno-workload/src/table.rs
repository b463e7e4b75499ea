//! Tables, their rows, and stored routines.

use std::ops::Range;

use pgdyno_wire::Statement;

use crate::{ColumnType, CopyBuf};

/// Number of rows of a table right after the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCount {
    /// Exactly this many.
    Exact(u64),
    /// A random number in this range.
    Between(u64, u64),
}

impl RowCount {
    /// Returns true if `rows` fits.
    #[must_use]
    pub fn admits(self, rows: u64) -> bool {
        match self {
            Self::Exact(n) => rows == n,
            Self::Between(low, high) => (low..=high).contains(&rows),
        }
    }

    /// Returns the number in the middle, for progress.
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

/// Placement of a table's rows on a server that distributes tables over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Each row on the node that the value of a column leads to. All tables of a data set that are distributed by a
    /// column are colocated.
    Column {
        /// The column.
        name: &'static str,
        /// Number of shards.
        shards: u32,
        /// Whether its values are the units of the scale, numbered from 1, such as warehouses. Otherwise there are so many
        /// values that all shards have about as many rows.
        is_scale: bool,
    },
    /// All rows on every node (Citus: a reference table).
    Everywhere,
}

/// The partitions of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Partitions {
    /// None.
    #[default]
    None,
    /// The server finds the partition of each row; COPY cannot freeze such rows.
    Routed,
    /// The rows of each partition are known: each can be loaded by itself, with frozen rows.
    Known(Vec<Partition>),
}

/// A partition with known rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name, without a schema.
    pub name: String,
    /// Chunks that hold exactly its rows; empty if it has none.
    pub chunks: Vec<Range<u64>>,
    /// Statements after its rows are loaded, such as its primary key. They run before those of the whole table, which
    /// then find this part done. Those of different partitions may run side by side.
    pub indexes: Vec<String>,
}

impl Partitions {
    /// Returns the partitions with known rows.
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
    /// Statements after the rows are loaded: primary keys and indexes. Each stands alone.
    pub indexes: Vec<String>,
    /// Statements after all tables have their indexes: foreign keys.
    pub foreign_keys: Vec<String>,
    /// Rows right after the load.
    pub rows: RowCount,
    /// Whether runs add or remove rows. If not, the number of rows never changes.
    pub grows: bool,
    /// Estimated bytes of heap and indexes: larger tables are loaded first.
    pub bytes: u64,
    /// Its partitions, which the DDL creates.
    pub partitions: Partitions,
    /// Placement of its rows on a server that distributes tables; `None` leaves the table where it is created.
    pub distribution: Option<Distribution>,
    /// All columns, if COPY's binary format costs the server less; empty if rows are sent as text.
    pub binary: Vec<ColumnType>,
    /// Source of the rows; `None` for a table that starts empty.
    pub source: Option<Box<dyn RowSource>>,
}

impl Table {
    /// Returns the name of the partition that holds all rows of these chunks, or of the table.
    #[must_use]
    pub fn relation_of(&self, chunks: &Range<u64>) -> &str {
        let holds = |range: &Range<u64>| range.start <= chunks.start && chunks.end <= range.end;
        let partition = self.partitions.known().iter().find(|partition| partition.chunks.iter().any(holds));
        partition.map_or(self.name, |partition| &partition.name)
    }
}

/// Rows in chunks. Each chunk is a pure function of its number: any number of loaders load the same table.
pub trait RowSource: Send + Sync {
    /// Returns the number of chunks.
    fn chunks(&self) -> u64;
    /// Appends the rows of one chunk, `0..chunks()`.
    fn write(&self, chunk: u64, out: &mut CopyBuf);
}

/// Another program that makes tables of the same names. pgdyno can drive its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker {
    /// Its name.
    pub name: &'static str,
    /// Names of its procedures or functions. If all of them exist beside all tables, this program made the data. Empty
    /// if the names of the tables are enough to know it.
    pub routines: &'static [&'static str],
    /// The command that drives its data as it is.
    pub drive: &'static str,
    /// The schema in which the workload's routines are kept apart from the program's: the value of parameter
    /// [`Maker::ROUTINE_SCHEMA`] for its data.
    pub routine_schema: &'static str,
    /// What the user can do if columns or keys are missing.
    pub remedy: &'static str,
    /// Checks that its data is known to fail, right after its load or after its runs, each with the reason.
    pub deviations: &'static [(&'static str, &'static str)],
}

impl Maker {
    /// Name of the parameter for the schema of routines.
    pub const ROUTINE_SCHEMA: &'static str = "routine-schema";

    /// Returns the reason why data of this program may fail a check.
    #[must_use]
    pub fn deviation(&self, check: &str) -> Option<&'static str> {
        self.deviations.iter().find(|(name, _)| *name == check).map(|(_, why)| *why)
    }
}

/// A stored procedure or function.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Name and argument types, as in `DROP ROUTINE`.
    pub signature: &'static str,
    /// `CREATE OR REPLACE …`.
    pub ddl: String,
    /// On a server that distributes tables: the routine runs on the node of the rows to which its argument of this
    /// number, from 1, leads in this table.
    pub distribution: Option<(u32, &'static str)>,
    /// A read-only call of it, which shows whether the server routes calls to the node of their rows.
    pub read_only_call: Option<ReadOnlyCall>,
}

/// A read-only call. Its first parameter is a value of the distribution column.
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
    /// The schema that holds only them; `None` if they are beside the tables.
    pub schema: Option<&'static str>,
    /// The routines, in the order of their creation.
    pub list: Vec<Routine>,
}
