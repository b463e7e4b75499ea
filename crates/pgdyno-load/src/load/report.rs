//! Report of a load.

use crate::{LoadPhase, Stamp};

/// Report of a load, with times.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadReport {
    /// The stamp of the data.
    pub stamp: Stamp,
    /// Every table, in the order of the data set.
    pub tables: Vec<TableReport>,
    /// Every phase that took place, in order. They overlap, so their sum may exceed [`LoadReport::seconds`].
    pub phases: Vec<PhaseReport>,
    /// From the first statement to the stamp.
    pub seconds: f64,
    /// Tables with their indexes and TOAST, in bytes: the sum of `pg_total_relation_size`.
    pub data_bytes: Option<u64>,
    /// Connections that loaded.
    pub loaders: usize,
    /// Rows of an interrupted load that were not sent again.
    pub rows_kept: u64,
    /// Unusual events, in sentences.
    pub notes: Vec<String>,
}

/// The rows of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableReport {
    /// Its name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// COPY data that this load sent.
    pub copy_bytes: u64,
    /// From its creation, or the start of its first loader, to the last row.
    pub seconds: f64,
    /// Loaders that shared it; 1 if it was created, filled and frozen in one transaction.
    pub loaders: usize,
}

/// One phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseReport {
    /// The phase.
    pub phase: LoadPhase,
    /// From the start of its first statement to the end of its last one.
    pub seconds: f64,
    /// The part of it after the end of all earlier phases: the load takes longer by that.
    pub seconds_added: f64,
}
