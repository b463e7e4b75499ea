//! The run record: what a run leaves behind, as plain files that other tools read.
//!
//! - [`RunRecord`] is `run.json`, with explicit types and a `format_version`;
//! - [`RunDir`] is the run's directory, written as the run goes: `run.json`, `intervals.csv`,
//!   `latency.hlog`; and one line at the end in `results.csv` beside it;
//! - [`SampleFiles`] is what was seen of server and machines meanwhile, [`Samples`] the same read back;
//! - [`SearchRecord`] is a search for the highest load that keeps its [`Objective`]s, which is made of runs;
//! - [`Metric`] is the table of what runs are known and compared by;
//! - [`table`] has runs as rows, for that list and for exports;
//! - [`summarize`] turns what the engine counted into the record's figures.
//!
//! Nothing in a record is a secret: targets come without their passwords.

mod cells;
mod cost;
mod csv;
mod error;
#[cfg(test)]
mod fixture;
#[doc(hidden)]
pub mod fuzzing;
mod hdr;
mod hlog;
mod interval;
mod layout;
mod listing;
mod live;
mod metric;
mod objective;
mod pattern;
mod record;
mod samples;
mod search;
mod select;
mod series;
mod store;
mod summary;
pub mod table;
mod timeline;
mod trust;

pub use csv::IntervalsCsv;
pub use error::StoreError;
pub use interval::{IntervalLatency, IntervalRecord};
pub use layout::{INTERVALS, LATENCY, RECORD, input_path, is_run_name, run_id};
pub use listing::{is_listed, list_run};
pub use live::{Latest, goes_on, read_latest};
pub use metric::Metric;
pub use objective::Objective;
pub use pgdyno_workload::{Better, Unit};
pub use record::{
    BuildRecord, CheckRecord, CheckSet, ClientRecord, ClusterRecord, CopyRecord, CostRecord, CycleRecord, ErrorRecord,
    EventRecord, FORMAT_VERSION, FindingRecord, GroupRecord, GrowthRecord, LatencyRecord, LeftOutRecord,
    LevelChangeRecord, LoadRecord, LoadTable, MachineRecord, MetricRecord, NodeRecord, NoticeRecord, PlaceRecord,
    RuleRecord, RunRecord, SamplesRecord, ServerRecord, SettingRecord, StageRecord, StatementRecord, Status,
    SteadyRecord, Summary, TallyRecord, TargetRecord, TimePartRecord, TransactionRecord, WorkloadMetricRecord,
};
pub use samples::{Points, SampleFiles, SampleTable, Samples, read_samples};
pub use search::{SearchPoint, SearchRecord, SearchStatus};
pub use select::find_runs;
pub use series::{Series, SeriesInterval, read_series};
pub use store::{RunDir, admit, admit_file, find_run, list_runs, read_record, write_record, write_whole};
pub use summary::{Names, TxnName, group_record, note_counts, note_metrics, summarize};
pub use timeline::{GroupTimeline, LatencyLine, Timeline, TimelineInterval, read_timeline};
pub use trust::{Trust, TrustRecord};
