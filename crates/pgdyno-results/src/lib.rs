//! The run record: the plain files of a run, which other tools can read.
//!
//! - [`RunRecord`] is `run.json`, with explicit types and a `format_version`;
//! - [`RunDir`] is the run's directory, written during the run: `run.json`, `intervals.csv`, `latency.hlog`; at the
//!   end it adds a line to `results.csv` beside it;
//! - [`SampleFiles`] writes samples of server and machines, [`Samples`] reads them back;
//! - [`SearchRecord`] is a search for the highest load that keeps its [`Objective`]s; it consists of runs;
//! - [`AbRecord`] is an A/B experiment; it consists of runs;
//! - [`Study`] is what searches, experiments and frontiers have in common;
//! - [`RecordMetric`] is the table of metrics by which runs are compared;
//! - [`table`] has runs as rows, for that list and for exports;
//! - [`summarize`] computes the record's figures from the engine's counts.
//!
//! Records hold no secrets: targets are stored without their passwords.

mod ab;
mod answers;
mod cells;
mod cost;
mod earlier;
mod error;
mod executions;
mod file_name;
mod find;
#[cfg(test)]
mod fixture;
mod frontier;
#[doc(hidden)]
pub mod fuzzing;
mod hdr;
mod hlog;
mod interval;
mod layout;
mod ledger;
mod listing;
mod live;
mod metric;
mod objective;
mod pattern;
mod profile;
mod record;
mod resumable;
mod samples;
mod search;
mod select;
mod series;
mod store;
mod study;
mod summary;
pub mod table;
mod timeline;
mod trust;
mod warning;

pub use ab::{
    AbFigure, AbLevel, AbPlanChange, AbProfile, AbRecord, AbResponseBin, AbResponses, AbRuns, AbSide, AbStack,
    AbStatement, AbStatementTime, AbTask, AbTaskRatio, AbTime, AbTimePart, AbUnit, AbVerdict, clients_time_of,
};
pub use answers::{Answer, answers, compare_answers};
pub use earlier::earlier_runs;
pub use error::StoreError;
pub use executions::{Execution, ExecutionOutcome, write_executions};
pub use find::{NamedRecord, find_record, find_run};
pub use frontier::{FrontierPoint, FrontierRecord, FrontierResult};
pub use interval::columns::{INTERVAL_COLUMNS, IntervalColumn};
pub use interval::csv::IntervalsCsv;
pub use interval::{IntervalLatency, IntervalRecord};
pub use layout::{INTERVALS, LATENCY, QUERY_PLANS, RECORD, input_path, is_run_name, run_id};
pub use ledger::{KEY_BYTES_MAX, LedgerEntry, LedgerFile, MarkerClass, read_ledger};
pub use listing::{is_listed, list_run};
pub use live::{LiveData, goes_on, read_latest};
pub use metric::RecordMetric;
pub use objective::{Objective, ObjectiveValue};
pub use pgdyno_workload::{Better, Unit};
pub use profile::{read_profile, write_profile};
pub use record::{
    AnalyticsRecord, AnalyticsServerRecord, BuildRecord, ByClientRecord, CachedDataRecord, CallRecord, Certainty,
    CheckRecord, CheckSet, ClientOutageRecord, ClientRecord, ClusterRecord, CopyRecord, CostRecord, CycleRecord,
    DriverRecord, DriverStageRecord, EarlierRunsRecord, EndpointFigures, EndpointRecord, ErrorRecord, EventRecord,
    FORMAT_VERSION, FaultOutcome, FaultRecord, FaultServerRecord, FidelityRecord, FidelityStatementRecord,
    FindingRecord, FreshnessRecord, GroupRecord, GrowingTableRecord, GrowthRecord, InFlightRecord, LatencyRecord,
    LedgerEndpointRecord, LedgerRecord, LeftOutRecord, LevelChangeRecord, LinkRecord, LoadRecord, LoadTable,
    MachineRecord, MarkersFound, MetricRecord, NodeRecord, NoticeRecord, ObjectiveRecord, OutageCourseRecord,
    OutageFailuresRecord, OutageRecord, PlaceRecord, ProfileRecord, QueryCostRecord, QueryPlanRecord, QueryRecord,
    ReaderRecord, ReadersRecord, RuleRecord, RunRecord, SamplesRecord, ScanRecord, ServerCountRecord, ServerRecord,
    SettingRecord, StageRecord, StalenessRecord, StatementRecord, Status, SteadyRecord, StreamsRecord, Summary,
    TallyRecord, TargetRecord, TimePartRecord, TransactionRecord, UnfinishedRecord, WorkLostRecord,
    WorkloadMetricRecord, time_part_title,
};
pub use resumable::Resumable;
pub use samples::{Points, SampleFiles, SampleTable, Samples, read_samples};
pub use search::{KindFigure, RunFigures, SearchPoint, SearchRecord, SearchStatus};
pub use select::find_runs;
pub use series::{Responses, Series, read_series};
pub use store::{
    RunDir, admit, admit_file, list_runs, read_beside, read_ordinary, read_record, write_inside, write_json,
    write_record, write_whole,
};
pub use study::{Study, StudyKind};
pub use summary::{
    CounterNames, TxnName, group_record, latency_record, note_counts, note_metrics, note_stage_metrics, summarize,
};
pub use timeline::{GroupTimeline, LatencyLine, Timeline, read_intervals, read_timeline};
pub use trust::{Trust, TrustRecord};
pub use warning::{Drivers, GroupOfStage, Severity, Sign, Warning, Warnings};
