//! What a workload is: data and pure functions. A workload never sees a socket, a clock or a terminal.
//!
//! - [`Workload`] is the contract; [`Meta`] says what it is called and which [`Param`]s it takes;
//! - [`Table`] and [`RowSource`] say what is loaded: a chunk of rows is a pure function of its number; or
//!   [`SqlData`] makes it by SQL;
//! - [`Stage`] and [`Group`] say which clients run when;
//! - [`ClientScript`] is what one client does: it draws a transaction and steps through it;
//! - [`Check`] is a question to the database that shows whether its data is still right;
//! - [`Scenario`] says what must come of transactions that meet, [`Durability`] what of a crash;
//! - [`Metric`] is what a workload's runs are known by, beside TPS and latencies;
//! - [`Rng`] gives every purpose its own stream, so that neither threads nor order change the data.
//!
//! A new workload is a directory in `pgdyno-workloads` and one line in its registry.

mod capabilities;
mod check;
mod cluster;
mod copy;
mod judgement;
mod metric;
mod pace;
mod params;
mod rng;
mod scenario;
mod script;
mod sql_data;
mod stage;
mod table;

pub use capabilities::{Capabilities, Pooling};
pub use check::{Check, CheckCost, Expect, Parts};
pub use cluster::{Cluster, Node};
pub use copy::{ColumnType, CopyBuf, Timestamp};
pub use judgement::{Figures, Judgement, TxnFigures};
pub use metric::{Better, Metric, Unit};
pub use pace::{Arrivals, Pace, Rate};
pub use params::{Param, ParamError, ParamKind, Params, When};
pub use rng::Rng;
pub use scenario::{Act, Durability, IsolationLevel, Scenario, Step};
pub use script::{
    Batch, Begin, ClientContext, ClientId, ClientScript, Next, Note, OnTrouble, REPLY_BYTES_MAX, Reply, ReplyBuffer,
    ResultSet, ShellOutcome, Since, TooMuch, Trouble, TxnId, Verdict,
};
pub use sql_data::{SqlData, SqlFile, SqlStatement};
pub use stage::{Clients, Ends, Group, Stage};
pub use table::{Distribution, Maker, Partition, Partitions, Routine, RowCount, RowSource, Table};

pub use pgdyno_wire::push_int;

use pgdyno_wire::Statement;

/// The name and parameters of a workload, known without a server.
#[derive(Debug)]
pub struct Meta {
    /// What the user types: `tpcb-like`, `tproc-c`.
    pub id: &'static str,
    /// One line for `pgdyno list workloads`.
    pub summary: &'static str,
    /// Raised whenever the loaded rows change, so that old data is not taken for new.
    pub version: u32,
    /// The name of the data set; workloads with the same one share their tables (`pgbench`, `tproc-c`).
    pub dataset: &'static str,
    /// What the size is called: `scale` or `warehouses`. Empty for a workload without data.
    pub scale_name: &'static str,
    /// A query for the loaded size, for data without a stamp (made by `pgbench -i`, say).
    pub scale_query: Option<&'static str>,
    /// What it can be told.
    pub params: &'static [Param],
}

impl Meta {
    /// Whether it needs a server at all.
    #[must_use]
    pub fn needs_server(&self) -> bool {
        !self.dataset.is_empty()
    }

    /// Whether it has data of its own, which can be loaded, checked and dropped.
    #[must_use]
    pub fn has_data(&self) -> bool {
        !self.scale_name.is_empty()
    }

    /// Whether the size shapes the data. Where it does not, only the run knows it.
    #[must_use]
    pub fn is_size_loaded(&self) -> bool {
        self.params.iter().any(|param| param.name == self.scale_name && param.shapes_data())
    }
}

/// One kind of transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Txn {
    /// `new-order`, `select-only`.
    pub name: &'static str,
    /// Its share of the mix; shares are relative to their sum.
    pub weight: f64,
    /// SELECT, INSERT, UPDATE and DELETE statements in one transaction, for QPS.
    pub queries: u32,
}

/// A workload with its parameters bound.
pub trait Workload: Send + Sync {
    /// Name, version, parameters.
    fn meta(&self) -> &'static Meta;
    /// What it was told, every parameter of [`Meta::params`] with its value. Those that tell data
    /// ([`Param::tells_data`]) are part of the loaded data's identity.
    fn params(&self) -> &Params;
    /// Scale factor or warehouses; 0 for a workload without data.
    fn scale(&self) -> u64;
    /// Tables to load, in the order of their creation.
    fn tables(&self, caps: &Capabilities) -> Vec<Table>;
    /// SQL that makes the data, where nobody knows beforehand which tables that will be; then there are neither
    /// tables nor routines.
    fn sql_data(&self) -> Option<&SqlData> {
        None
    }
    /// Stored procedures and functions.
    fn routines(&self, _caps: &Capabilities) -> Vec<Routine> {
        Vec::new()
    }
    /// The schema of the routines, where they are not beside the tables. It holds nothing else.
    fn routine_schema(&self) -> Option<&'static str> {
        None
    }
    /// Another program that makes tables of the same names.
    fn other_maker(&self) -> Option<&'static Maker> {
        None
    }
    /// Conditions that hold after the load and after every run.
    fn checks(&self) -> Vec<Check>;
    /// Isolation tests for transactions at this level; they need nobody else at work on the data.
    fn scenarios(&self, _level: IsolationLevel) -> Vec<Scenario> {
        Vec::new()
    }
    /// The durability test.
    fn durability(&self) -> Option<Durability> {
        None
    }
    /// Kinds of transactions, in the order of their [`TxnId`]s.
    fn txns(&self) -> Vec<Txn>;
    /// Statements, in the order of their ids.
    fn statements(&self, caps: &Capabilities) -> Vec<Statement>;
    /// The transaction, in the order of [`Workload::txns`], that this statement is a part of, where it is of one alone.
    fn txn_of_statement(&self, _statement: usize) -> Option<usize> {
        None
    }
    /// Whether QPS counts this statement as often as it is executed, because not every transaction of its kind
    /// executes it: [`Txn::queries`] is then without it.
    fn is_counted_query(&self, _statement: usize) -> bool {
        false
    }
    /// A call that only reads, of a routine that is distributed, for the rows of this value of the distribution column,
    /// with its parameters, all of them whole numbers: by it one learns whether the server sends calls to their rows.
    fn read_only_call(&self, _key: i64) -> Option<(Statement, Vec<i64>)> {
        None
    }
    /// Metrics of its own; the first is what its runs are known by.
    fn metrics(&self) -> &'static [Metric] {
        &[]
    }
    /// Whether its transactions only read, as far as their statements tell: then a standby can run them.
    fn is_read_only(&self) -> bool {
        false
    }
    /// SQL that a run starts with, once, such as emptying a history table; each stands alone.
    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }
    /// Bytes of tables and indexes once loaded, estimated.
    fn data_bytes(&self) -> u64;
    /// What a run does, in order; transactions, statements and tallies are numbered over all of it. The first stage is the
    /// one that a run is known by.
    fn stages(&self) -> Vec<Stage> {
        vec![Stage::new(Stage::ONLY, vec![Group::new(Group::ONLY)])]
    }
    /// What one client does.
    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript>;
    /// What the clients count beside transactions, such as remote accesses; [`ClientScript::tally`] counts.
    fn tallies(&self) -> &'static [&'static str] {
        &[]
    }
    /// Clients where the user names no number, such as ten terminals for each warehouse.
    fn default_clients(&self) -> Option<u32> {
        None
    }
    /// Connections that so many clients share where the user names no number; `None`: each has its own.
    fn default_connections(&self, _clients: u32) -> Option<u32> {
        None
    }
    /// What the figures of a run mean by the workload's own rules.
    fn judge(&self, _figures: &Figures<'_>) -> Vec<Judgement> {
        Vec::new()
    }
    /// What a user should know before this run with so many clients: pgbench's and HammerDB's habits.
    fn advice(&self, _clients: u32) -> Vec<String> {
        Vec::new()
    }
}
