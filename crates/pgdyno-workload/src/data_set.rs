//! Data of a workload.

use crate::{Capabilities, Check, Maker, Meta, Params, Routines, SqlData, Table};

/// The table of the stamps, in the schema of the data: one row for each data set (column `dataset`), with the tables and
/// their rows (arrays `tables` and `rows`) and, in column `changes`, a note of the runs that have changed them.
pub const STAMP_TABLE: &str = "pgdyno_stamp";

/// What holds for data that runs have changed.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    /// The checks.
    pub checks: Vec<Check>,
    /// What completes or undoes a change that was interrupted.
    pub repair: Option<Repair>,
}

/// SQL that completes or undoes an interrupted change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What it does, for the user.
    pub what: String,
    /// Statements of one transaction, which also update the stamp.
    pub sql: Vec<String>,
}

/// Tables with their rows, routines and checks, loaded and stamped as one. Several workloads may share a data set.
///
/// No method has a default: a data set that wraps another one cannot forget a part of it.
pub trait DataSet: Send + Sync {
    /// Returns the workload that loads it: its name, the version of its rows and the parameters that shape them.
    fn meta(&self) -> &'static Meta;
    /// Returns the values of those parameters. Those that identify data ([`Param::identifies_data`](crate::Param::identifies_data))
    /// are part of the identity of loaded data.
    fn params(&self) -> &Params;
    /// Returns the scale factor or the number of warehouses.
    fn scale(&self) -> u64;
    /// Returns the tables to load, in the order of their creation.
    fn tables(&self, caps: &Capabilities) -> Vec<Table>;
    /// Returns the SQL that makes the data, if only running it shows which tables it makes; then there are neither
    /// tables nor routines.
    fn sql_data(&self) -> Option<&SqlData>;
    /// Returns stored procedures and functions.
    fn routines(&self, caps: &Capabilities) -> Routines;
    /// Returns another program that makes tables of the same names.
    fn other_maker(&self) -> Option<&'static Maker>;
    /// Returns the checks of data as it was loaded.
    fn checks(&self) -> Vec<Check>;
    /// Returns what holds for data that runs have changed since its load; `changes` is what they noted in the stamp
    /// ([`STAMP_TABLE`]).
    fn changed(&self, changes: &str) -> Changed;
    /// Returns SQL that a run starts with, once, such as emptying a history table. Each statement stands alone.
    fn before_run(&self) -> &'static [&'static str];
    /// Returns the estimated bytes of tables and indexes after the load.
    fn bytes(&self) -> u64;
}
