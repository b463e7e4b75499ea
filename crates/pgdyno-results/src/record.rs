//! The schema of `run.json`.
//!
//! Names end in their unit. A field that is absent was not measured; a field is never filled with a guess.
//! Fields are only ever added within one format version; anything else raises it.

mod data;
mod driver;
mod figures;
mod groups;
mod seen;
mod server;
mod target;

use std::collections::BTreeMap;

use pgdyno_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::interval::IntervalRecord;
use crate::trust::TrustRecord;
pub use data::{CheckRecord, CheckSet, CopyRecord, LoadRecord, LoadTable};
pub use driver::ClientRecord;
pub(crate) use figures::PercentileRecord;
pub use figures::{
    ErrorRecord, LatencyRecord, LevelChangeRecord, MetricRecord, NoticeRecord, RuleRecord, StatementRecord,
    SteadyRecord, Summary, TallyRecord, TransactionRecord, WorkloadMetricRecord,
};
pub use groups::{GroupRecord, StageRecord};
pub use seen::{EventRecord, FindingRecord, LeftOutRecord, MachineRecord, SamplesRecord, TimePartRecord};
pub use server::{BuildRecord, ClusterRecord, GrowthRecord, NodeRecord, PlaceRecord, ServerRecord};
pub use target::{CostRecord, CycleRecord, SettingRecord, TargetRecord};

/// The version of the schema that this crate writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As planned.
    Complete,
    /// Ended early by the user, or never ended: pgdyno was killed, or runs still. What was measured stands.
    Interrupted,
    /// The numbers cannot be trusted: an identity does not hold, clients were lost, or a check failed.
    Invalid,
    /// It could not begin, or broke off.
    Failed,
}

impl Status {
    /// The word in reports.
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
pub struct RunRecord {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// The name of the run directory.
    pub id: String,
    /// How it ended.
    pub status: Status,
    /// Why, where it did not end as planned.
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
    /// What was to be done.
    pub plan: Plan,
    /// Hash of the plan: the same for runs that may be compared without a second look.
    pub plan_hash: String,
    /// The driver.
    pub client: ClientRecord,
    /// The server; absent for a workload without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRecord>,
    /// The target as `pgdyno.toml` has it; absent where the target has no name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetRecord>,
    /// What was done to the server before and after the measured window, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<CycleRecord>,
    /// Settings of the server that the run changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_set: Vec<SettingRecord>,
    /// What the figures cost, where the target has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostRecord>,
    /// The copy of a database that the run worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyRecord>,
    /// The program that loaded the data: `pgdyno 0.1.0`, `HammerDB`. Absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_from: Option<String>,
    /// The load, where this run loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRecord>,
    /// Checks before and after the run.
    #[serde(default)]
    pub checks: Vec<CheckSet>,
    /// The figures; absent when nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The metrics of the measured window by name, those of the workload among them; absent in records of 0.1.0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricRecord>,
    /// By kind of transaction.
    #[serde(default)]
    pub transactions: Vec<TransactionRecord>,
    /// By stage and group of clients, where there is more than one of either. `summary`, `metrics`, `transactions` and
    /// `statements` are of the first stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRecord>,
    /// By statement.
    #[serde(default)]
    pub statements: Vec<StatementRecord>,
    /// What the clients counted beside transactions in the measured window, such as remote accesses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tallies: Vec<TallyRecord>,
    /// What the workload's own rules say of the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleRecord>,
    /// Errors of the server by SQLSTATE, retried ones included.
    #[serde(default)]
    pub errors: Vec<ErrorRecord>,
    /// What the server told the clients beside its answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<NoticeRecord>,
    /// The run interval by interval, in a record that has no `intervals.csv` beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<IntervalRecord>,
    /// How server and machines were watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesRecord>,
    /// The server's machine in the measured window, where somebody could look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_machine: Option<MachineRecord>,
    /// The driver's machine in the measured window, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_machine: Option<MachineRecord>,
    /// What happened while the clients were at work, such as checkpoints, by its begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventRecord>,
    /// What held the server back, the weightiest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingRecord>,
    /// Where the clients' time went, or with a schedule the response time; the largest part first. Empty where nobody sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients_time: Vec<TimePartRecord>,
    /// What a reader must know before trusting the figures.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// How far the figures can be trusted; absent until the run has ended, and in records of before it was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustRecord>,
}

impl RunRecord {
    /// The record of a run that begins: nothing is known yet but what was to be done, and by whom.
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
            client,
            server: None,
            target: None,
            cycle: Vec::new(),
            settings_set: Vec::new(),
            cost: None,
            copy: None,
            data_from: None,
            load: None,
            checks: Vec::new(),
            summary: None,
            metrics: BTreeMap::new(),
            transactions: Vec::new(),
            stages: Vec::new(),
            statements: Vec::new(),
            tallies: Vec::new(),
            rules: Vec::new(),
            errors: Vec::new(),
            notices: Vec::new(),
            intervals: Vec::new(),
            samples: None,
            server_machine: None,
            client_machine: None,
            events: Vec::new(),
            findings: Vec::new(),
            clients_time: Vec::new(),
            warnings: Vec::new(),
            trust: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_plan::{Arrivals, Pace, QueryMode, Rate, Wire};
    use serde_json::{Value, json};

    use super::*;

    /// The plan of the oldest record with a field changed.
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
            assert_eq!(plan_with("mode", json!(mode.name())).unwrap().mode, mode);
        }
        assert_eq!(plan_with("wire", json!("libpq")).unwrap().wire, Wire::Libpq);
        assert_eq!(plan_with("pace", json!("closed-loop")).unwrap().pace, Pace::ClosedLoop);
        for arrivals in [Arrivals::Poisson, Arrivals::Uniform] {
            let pace = json!({ "rate": { "per_s": 1234.5, "arrivals": arrivals.name() } });
            assert_eq!(plan_with("pace", pace).unwrap().pace, Pace::Rate(Rate { per_s: 1234.5, arrivals }));
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
