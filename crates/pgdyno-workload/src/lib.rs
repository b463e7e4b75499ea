//! What a workload is: data and pure functions. A workload never sees a socket, a clock or a terminal.
//!
//! - [`Workload`] is composed of [`DataSet`]s, a [`Drive`] and, where there is one, an [`Audit`]; [`Meta`] says what it is
//!   called and which [`Param`]s it takes;
//! - [`Table`] and [`RowSource`] say what is loaded: a chunk of rows is a pure function of its number; or
//!   [`SqlData`] makes it by SQL;
//! - [`Stage`] and [`Group`] say which clients run when;
//! - [`Scripts`] are what the clients of a group run: transactions, statements, and a [`ClientScript`] for each client,
//!   which draws a transaction and steps through it;
//! - [`Check`] is a question to the database that shows whether its data is still right;
//! - [`Scenario`] says what must come of transactions that meet, [`Durability`] what of a crash;
//! - [`Metric`] is what a workload's runs are known by, beside TPS and latencies;
//! - [`WorkloadOption`] gives a parameter a name of its own on the command line and in suite files;
//! - [`ValueLists`] are rows that scripts draw, read from the server before the clients begin;
//! - [`dist`] has the random distributions of pgbench, YCSB and sysbench;
//! - [`Rng`] gives every purpose its own stream, so that neither threads nor order change the data.
//!
//! A new workload is a directory in `pgdyno-workloads` and one line in its registry.

mod capabilities;
mod check;
mod cluster;
mod copy;
mod data_set;
pub mod dist;
mod drive;
mod hash_partition;
mod judgement;
mod ledger;
mod metric;
mod numbered;
mod option;
mod oracle;
mod pace;
mod params;
mod rng;
mod scenario;
mod script;
mod scripts;
mod sql_data;
mod stage;
mod table;
mod value_lists;
mod workload;
mod wrong_type;

pub use capabilities::{Capabilities, Pooling};
pub use check::{Check, CheckCost, CheckParts, CheckSql, Expect, Screen};
pub use cluster::{Cluster, Node};
pub use copy::{ColumnType, CopyBuf, Timestamp};
pub use data_set::{Changed, DataSet, Repair, STAMP_TABLE};
pub use drive::{ClientCounts, Drive, Explained, Growth};
pub use hash_partition::hash_partition;
pub use judgement::{Judgement, TxnFigures, WindowFigures};
pub use ledger::{Ledger, LedgerMarkers, MARKER_COLUMNS, MarkerKey};
pub use metric::{Better, Measured, Metric, Unit};
pub use numbered::{NumberedDrive, NumberedScripts, NumberedStatement, Numbers};
pub use option::{
    Commands, Omitted, OptionSpec, OptionTable, OptionValues, ValueKind, WorkloadOption, WorkloadOptionGroup,
};
pub use oracle::{Answers, Oracle, OracleQuery, OracleTable};
pub use pace::{Arrivals, Pace, RATE_MAX_PER_S, Rate, RateSteps};
pub use params::{MARKERS, Param, ParamError, ParamKind, Params, When};
pub use rng::Rng;
pub use scenario::{Act, Durability, IsolationLevel, Scenario, ScenarioStep};
pub use script::{
    Batch, Begin, ClientContext, ClientId, ClientScript, Failure, FailureAction, Marks, Next, Note, REPLY_BYTES_MAX,
    Reply, ReplyBuffer, ResultSet, RowKey, ShellOutcome, Since, TooMuch, TxnId, Verdict,
};
pub use scripts::{
    Adviser, ClientMaker, Judge, Program, ProgramMaker, ScriptStatement, Scripts, ServerCount, Statements, Txn,
};
pub use sql_data::{SqlData, SqlFile, SqlStatement};
pub use stage::{Clients, Ends, Group, GroupWork, Results, Stage, has_groups};
pub use table::{
    Distribution, Maker, Partition, Partitions, ReadOnlyCall, Routine, Routines, RowCount, RowSource, Table,
};
pub use value_lists::{LIST_ROWS_MAX, ValueLists, ValueQuery, ValueRows, ValueRowsError};
pub use workload::{Audit, FIDELITY_FILE, Meta, Workload};
pub use wrong_type::in_plain_words;

pub use pgdyno_wire::push_int;
