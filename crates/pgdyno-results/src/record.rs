//! The schema of `run.json`.
//!
//! Names end in their unit. A field that is absent was not measured; a field is never filled with a guess.
//! Fields are only ever added within one format version; anything else raises it.

mod analytics;
mod data;
mod driver;
mod faults;
mod fidelity;
mod figures;
mod groups;
mod ledger;
mod observed;
mod outage;
mod query_costs;
mod query_plans;
mod readers;
mod server;
mod target;

use std::collections::BTreeMap;

use pgdyno_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::interval::IntervalRecord;
use crate::trust::TrustRecord;
use crate::warning::Warnings;
pub use analytics::{
    AnalyticsRecord, AnalyticsServerRecord, FreshnessRecord, GrowingTableRecord, QueryRecord, StreamsRecord,
    UnfinishedRecord,
};
pub use data::{CachedDataRecord, CheckRecord, CheckSet, CopyRecord, LoadRecord, LoadTable};
pub use driver::{ClientRecord, DriverRecord, DriverStageRecord};
pub use faults::{FaultOutcome, FaultRecord, FaultServerRecord};
pub use fidelity::{CallRecord, FidelityRecord, FidelityStatementRecord};
pub(crate) use figures::PercentileRecord;
pub use figures::{
    ByClientRecord, EarlierRunsRecord, ErrorRecord, InFlightRecord, LatencyRecord, LevelChangeRecord, MetricRecord,
    NoticeRecord, ObjectiveRecord, RuleRecord, ServerCountRecord, StatementRecord, SteadyRecord, Summary, TallyRecord,
    TransactionRecord, WorkloadMetricRecord,
};
pub use groups::{GroupRecord, StageRecord};
pub use ledger::{LedgerEndpointRecord, LedgerRecord, MarkersFound};
pub use observed::{
    Certainty, EventRecord, FindingRecord, LeftOutRecord, LinkRecord, MachineRecord, ProfileRecord, SamplesRecord,
    TimePartRecord, time_part_title,
};
pub use outage::{ClientOutageRecord, OutageCourseRecord, OutageFailuresRecord, OutageRecord, WorkLostRecord};
pub use query_costs::QueryCostRecord;
pub use query_plans::{QueryPlanRecord, ScanRecord};
pub use readers::{EndpointFigures, ReaderRecord, ReadersRecord, StalenessRecord};
pub use server::{BuildRecord, ClusterRecord, EndpointRecord, GrowthRecord, NodeRecord, PlaceRecord, ServerRecord};
pub use target::{CostRecord, CycleRecord, SettingRecord, TargetRecord};

/// The version of the schema that this crate writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As planned.
    Complete,
    /// Ended early by the user, or not ended: pgdyno was killed, or is still running. The figures so far are valid.
    Interrupted,
    /// The numbers cannot be trusted: an identity does not hold, clients were lost, or a check failed.
    Invalid,
    /// It could not begin, or ended with an error.
    Failed,
}

impl Status {
    /// Returns the word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
        }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Name of the run directory.
    pub id: String,
    /// How it ended.
    pub status: Status,
    /// Reason, unless it ended as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Exit code of the program; see docs/exit-codes.md.
    #[serde(default)]
    pub exit_code: u8,
    /// Version of pgdyno.
    pub pgdyno_version: String,
    /// Begin of the run, UTC, RFC 3339.
    pub started_at: String,
    /// Begin of the measured window, UTC, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_at: Option<String>,
    /// End of the run, UTC, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The plan.
    pub plan: Plan,
    /// Hash of the plan: the same for runs that may be compared without a second look.
    pub plan_hash: String,
    /// Labels that the user gave the run, such as the commit that it measures.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Objectives of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveRecord>,
    /// Earlier runs of the plan; absent if there are fewer than three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_runs: Option<EarlierRunsRecord>,
    /// The driver.
    pub client: ClientRecord,
    /// The drivers, if there were several. Then `client` is the coordinator's machine, with the threads of all drivers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drivers: Vec<DriverRecord>,
    /// The server; absent for a workload without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
    /// The target as `pgdyno.toml` has it; absent where the target has no name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetRecord>,
    /// Steps around the measured window, such as a restart of the server, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<CycleRecord>,
    /// Settings of the server that the run changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_set: Vec<SettingRecord>,
    /// Cost of the figures, if the target has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostRecord>,
    /// The copy of a database on which the run worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyRecord>,
    /// The program that loaded the data: `pgdyno 0.1.0`, `HammerDB`. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_from: Option<String>,
    /// Name of the rows that the queries of the first stage read: where it is the same, so are the answers. Absent if
    /// they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_read: Option<String>,
    /// The kept data that the private server began with a copy of, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_data: Option<CachedDataRecord>,
    /// The load, if this run loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRecord>,
    /// Checks before and after the run.
    #[serde(default)]
    pub checks: Vec<CheckSet>,
    /// The figures; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The metrics of the measured window by name, those of the workload among them; absent in records of 0.1.0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricRecord>,
    /// By kind of transaction.
    #[serde(default)]
    pub transactions: Vec<TransactionRecord>,
    /// By stage and group of clients, if the workload declares any. `summary`, `metrics`, `transactions` and
    /// `statements` are of the first stage; of its transactions, if streams of queries run beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// Streams of large queries that went on for a time, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analytics: Option<AnalyticsRecord>,
    /// The target and its readers, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<ReadersRecord>,
    /// By statement.
    #[serde(default)]
    pub statements: Vec<StatementRecord>,
    /// What queries cost the server beside time, if the workload consists of large ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query_costs: Vec<QueryCostRecord>,
    /// How far the run represents the captured load, if its workload was fitted to one (`pgdyno fit`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<FidelityRecord>,
    /// Its commits, and what the server has of them, if it kept a ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerRecord>,
    /// Plans of the queries, with `--plans`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query_plans: Vec<QueryPlanRecord>,
    /// Counts of the clients beside transactions in the measured window, such as remote accesses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tallies: Vec<TallyRecord>,
    /// Transactions that the server's tables count, too, beside those of the metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_counts: Vec<ServerCountRecord>,
    /// Results of the workload's own rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleRecord>,
    /// Errors of the server by SQLSTATE, retried ones included.
    #[serde(default)]
    pub errors: Vec<ErrorRecord>,
    /// Notices and warnings of the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<NoticeRecord>,
    /// The run interval by interval, in a record without `intervals.csv` beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<IntervalRecord>,
    /// How server and machines were sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesRecord>,
    /// The profile of the server's processes, with `--perf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileRecord>,
    /// The server's machine in the measured window, if it could be sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_machine: Option<MachineRecord>,
    /// The driver's machine in the measured window, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_machine: Option<MachineRecord>,
    /// Faults that the run was to cause, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRecord>,
    /// Attempts of clients to open a lost connection again that failed, by class and by address that was tried: `refused`, `timed-out`,
    /// `reset`, `not-ready`, `wrong-role`, `full`, `not-accepted`, `other`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_attempts: BTreeMap<String, u64>,
    /// Events during the run, such as checkpoints, by their start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventRecord>,
    /// What held the server back, the weightiest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingRecord>,
    /// Where the clients' time went, or with a schedule the response time; the largest part first. Empty where nobody sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients_time: Vec<TimePartRecord>,
    /// Warnings about the figures.
    #[serde(flatten)]
    pub warnings: Warnings,
    /// How far the figures can be trusted; absent until the run has ended, and in records of before it was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustRecord>,
}

impl RunRecord {
    /// Returns true if the run caused a fault.
    #[must_use]
    pub fn has_fault(&self) -> bool {
        self.faults.iter().any(|fault| fault.outcome == FaultOutcome::Done)
    }

    /// Returns the record at the start of a run, with the plan and the driver.
    #[must_use]
    pub fn begin(id: String, started: jiff::Timestamp, plan: Plan, plan_hash: String, client: ClientRecord) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            id,
            status: Status::Interrupted,
            reason: None,
            exit_code: 0,
            pgdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: started.to_string(),
            measured_at: None,
            ended_at: None,
            plan,
            plan_hash,
            labels: BTreeMap::new(),
            objectives: Vec::new(),
            earlier_runs: None,
            client,
            drivers: Vec::new(),
            server: None,
            target: None,
            cycle: Vec::new(),
            settings_set: Vec::new(),
            cost: None,
            copy: None,
            data_from: None,
            rows_read: None,
            cached_data: None,
            load: None,
            checks: Vec::new(),
            summary: None,
            metrics: BTreeMap::new(),
            transactions: Vec::new(),
            stages: Vec::new(),
            analytics: None,
            readers: None,
            statements: Vec::new(),
            query_costs: Vec::new(),
            fidelity: None,
            ledger: None,
            query_plans: Vec::new(),
            tallies: Vec::new(),
            server_counts: Vec::new(),
            rules: Vec::new(),
            errors: Vec::new(),
            notices: Vec::new(),
            intervals: Vec::new(),
            samples: None,
            profile: None,
            server_machine: None,
            client_machine: None,
            faults: Vec::new(),
            failed_attempts: BTreeMap::new(),
            events: Vec::new(),
            findings: Vec::new(),
            clients_time: Vec::new(),
            warnings: Warnings::default(),
            trust: None,
        }
    }

    /// Returns the clients' time for each committed transaction, in nanoseconds; `None` if none was committed. Of clients that think, it is
    /// the time of their responses.
    #[must_use]
    pub fn transaction_ns(&self) -> Option<f64> {
        let summary = self.summary.as_ref().filter(|summary| summary.committed > 0)?;
        let responses = summary.response_latency_ns.as_ref().filter(|_| summary.is_paced(&self.plan));
        let all_ns = match responses {
            Some(response) => response.mean * (summary.committed + summary.rolled_back) as f64,
            None => f64::from(self.plan.drive.clients) * summary.duration_s * 1e9,
        };
        Some(all_ns / summary.committed as f64)
    }

    /// Returns a label of the run, or else of its target.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        let of_target = || self.target.as_ref().and_then(|target| target.labels.get(name));
        self.labels.get(name).or_else(of_target).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_plan::{Arrivals, Pace, QueryMode, Rate, Wire};
    use serde_json::{Value, json};

    use super::*;

    /// Returns the plan of the oldest record with a changed field.
    fn plan_with(field: &str, value: Value) -> Result<Plan, String> {
        let text = include_str!("../../../fixtures/runs/v1/run.json");
        let mut record: Value = serde_json::from_str(text).unwrap();
        record["plan"][field] = value;
        let plan: Plan = serde_json::from_value(record["plan"].clone()).map_err(|error| error.to_string())?;
        assert_eq!(serde_json::to_value(&plan).unwrap()[field], record["plan"][field], "written as it was read");
        Ok(plan)
    }

    #[test]
    fn a_plan_keeps_the_words_of_old_records() {
        for mode in [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared] {
            assert_eq!(plan_with("mode", json!(mode.name())).unwrap().drive.mode, mode);
        }
        assert_eq!(plan_with("wire", json!("libpq")).unwrap().drive.wire, Wire::Libpq);
        assert_eq!(plan_with("pace", json!("closed-loop")).unwrap().drive.pace, Pace::ClosedLoop);
        for arrivals in [Arrivals::Poisson, Arrivals::Uniform] {
            let pace = json!({ "rate": { "per_s": 1234.5, "arrivals": arrivals.name() } });
            assert_eq!(plan_with("pace", pace).unwrap().drive.pace, Pace::Rate(Rate { per_s: 1234.5, arrivals }));
        }
    }

    #[test]
    fn a_mode_that_nobody_knows_is_an_error_and_no_other_mode() {
        let error = plan_with("mode", json!("portals")).unwrap_err();
        assert!(
            error.contains("unknown variant `portals`, expected one of `simple`, `extended`, `prepared`"),
            "{error}"
        );
    }
}
