//! What a load did.

use crate::{Phase, Stamp};

/// What a load did, and how long it took.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadReport {
    /// What is in the database now.
    pub stamp: Stamp,
    /// Every table, in the order of the data set.
    pub tables: Vec<TableReport>,
    /// Every phase that there was, in order. They overlap, so their sum may exceed [`LoadReport::seconds`].
    pub phases: Vec<PhaseReport>,
    /// From the first statement to the stamp.
    pub seconds: f64,
    /// Tables with their indexes and TOAST, in bytes: the sum of `pg_total_relation_size`.
    pub data_bytes: u64,
    /// Connections that loaded.
    pub loaders: usize,
    /// Rows that an interrupted load had left, and that were not sent again.
    pub rows_kept: u64,
    /// What was passed over or is unusual, in sentences.
    pub notes: Vec<String>,
}

/// The rows of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableReport {
    /// Its name.
    pub name: String,
    /// Rows that it holds.
    pub rows: u64,
    /// COPY data that this load sent.
    pub copy_bytes: u64,
    /// From its creation, or the first loader's begin, to the last row.
    pub seconds: f64,
    /// Loaders that shared it; 1 where it was created, filled and frozen in one transaction.
    pub loaders: usize,
}

/// One phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseReport {
    /// Which.
    pub phase: Phase,
    /// From its first statement's begin to its last one's end.
    pub seconds: f64,
    /// Of these, what comes after the end of all earlier phases: by so much it makes the load longer.
    pub seconds_added: f64,
}
