//! The run record: what a run leaves behind, as plain files that other tools read.
//!
//! - [`RunRecord`] is `run.json`, with explicit types and a `format_version`;
//! - [`RunDir`] is the run's directory, written as the run goes: `run.json`, `intervals.csv`,
//!   `latency.hlog`; and one line at the end in `results.csv` beside it;
//! - [`summarize`] turns what the engine counted into the record's figures.
//!
//! Nothing in a record is a secret: targets come without their passwords.

mod csv;
mod hlog;
mod interval;
mod record;
mod store;
mod summary;

pub use csv::IntervalsCsv;
pub use interval::{IntervalLatency, IntervalRecord};
pub use record::{
    CheckRecord, CheckSet, ClientRecord, ClusterRecord, CopyRecord, ErrorRecord, FORMAT_VERSION, GrowthRecord,
    LatencyRecord, LoadRecord, LoadTable, NodeRecord, RuleRecord, RunRecord, ServerRecord, StatementRecord, Status,
    SteadyRecord, Summary, TallyRecord, TransactionRecord,
};
pub use store::{RunDir, StoreError, admit, admit_file, find_run, list_runs, read_record, run_id, write_record};
pub use summary::{Names, summarize};
