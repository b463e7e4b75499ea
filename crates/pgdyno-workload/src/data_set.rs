//! What is loaded for a workload.

use crate::{Capabilities, Check, Maker, Meta, Params, Routines, SqlData, Table};

/// Tables with their rows, routines and rules, loaded and stamped as one. Several workloads may work on the same.
///
/// No method has a default: a data set that wraps another one cannot forget a part of it.
pub trait DataSet: Send + Sync {
    /// The workload that loads it: its name, the version of its rows and the parameters that shape them.
    fn meta(&self) -> &'static Meta;
    /// The values of those parameters. Those that tell data ([`Param::tells_data`](crate::Param::tells_data)) are part of the
    /// loaded data's identity.
    fn params(&self) -> &Params;
    /// Scale factor or warehouses.
    fn scale(&self) -> u64;
    /// Tables to load, in the order of their creation.
    fn tables(&self, caps: &Capabilities) -> Vec<Table>;
    /// SQL that makes the data, where nobody knows beforehand which tables that will be; then there are neither
    /// tables nor routines.
    fn sql_data(&self) -> Option<&SqlData>;
    /// Stored procedures and functions.
    fn routines(&self, caps: &Capabilities) -> Routines;
    /// Another program that makes tables of the same names.
    fn other_maker(&self) -> Option<&'static Maker>;
    /// Conditions that hold after the load and after every run.
    fn checks(&self) -> Vec<Check>;
    /// SQL that a run starts with, once, such as emptying a history table; each stands alone.
    fn before_run(&self) -> &'static [&'static str];
    /// Bytes of tables and indexes once loaded, estimated.
    fn bytes(&self) -> u64;
}
