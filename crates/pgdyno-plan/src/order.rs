//! The request for a run, as plain data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pgdyno_workload::OptionValues;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Arrivals, FaultName, FaultPlan, LoadWhen, Pace, Plan, QueryMode, Rate, RateOrder, RateStepsOrder, SuitePlan,
    TargetName, Wire, targets,
};

/// The default directory of run directories.
pub const RESULTS: &str = "pgdyno-results";
/// The default workload.
const WORKLOAD: &str = "tpcb-like";

/// A run as the user asks for it: the options that were given, and nothing for the others. The command line, a cell of
/// a suite or a program makes one; a recipe fills in what is open.
///
/// A [`Plan`](crate::Plan) is made from it by filling in every default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Order {
    /// The workload.
    pub workload: WorkloadOrder,
    /// The server.
    pub target: TargetOrder,
    /// Clients, pace and length.
    pub drive: DriveOrder,
    /// Faults that it causes.
    pub fault: FaultOrder,
    /// How streams of queries connect.
    pub analytics: AnalyticsOrder,
    /// How the data is loaded.
    pub loading: LoadingOrder,
    /// How a recipe is followed, if the workload is one.
    pub recipe: RecipeOrder,
    /// Steps on the server around the run.
    pub cycle: CycleOrder,
    /// How server and machines are sampled.
    pub watch: WatchOrder,
    /// Other machines that drive.
    pub meeting: MeetingOrder,
    /// Its place in a suite.
    pub suite: Option<SuitePlan>,
    /// Do not load the data: it must be there.
    pub no_load: bool,
    /// Replace data that pgdyno loaded.
    pub replace: bool,
    /// Run on a fresh copy of this database; of the target's own database if the name is empty.
    pub from_template: Option<String>,
    /// Do not check the data before and after.
    pub no_check: bool,
    /// Skip VACUUM and the workload's other statements before the run.
    pub no_vacuum: bool,
    /// Allow a schema that differs from what was loaded.
    pub allow_schema_changes: bool,
    /// Percentiles that reports show in addition to the usual ones: above 0, up to 100, ascending.
    pub latency_percentiles: Option<Vec<f64>>,
    /// Write every transaction to `transactions.log`.
    pub log: bool,
    /// Labels of the run, such as the commit that it measures. They are no part of the plan.
    pub labels: Vec<(String, String)>,
    /// Objectives that the run is to meet, such as `p99 < 10ms`. They are no part of the plan.
    pub objectives: Vec<String>,
    /// Also write the record to this file.
    pub json: Option<PathBuf>,
    /// The directory of run directories; by default [`RESULTS`].
    pub out: Option<PathBuf>,
}

impl Order {
    /// Returns the order of a run of this workload, with everything else open.
    #[must_use]
    pub fn of(workload: &str) -> Self {
        let names = vec![workload.to_owned()];
        Self { workload: WorkloadOrder { names, ..WorkloadOrder::default() }, ..Self::default() }
    }

    /// Returns the order with everything that the plan has: on the same target it resolves to the same plan, whatever
    /// size is loaded there. Its files and its recipe are those stored in the plan, and are not named again; its run is
    /// not part of a suite.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        let scripts = plan.scripts.iter().map(|script| format!("{}@{}", script.file, script.weight));
        let names = match &plan.directory {
            Some(directory) => vec![directory.clone()],
            None if plan.scripts.is_empty() => vec![plan.workload.clone()],
            None => scripts.collect(),
        };
        let pairs = |map: &BTreeMap<String, String>| map.iter().map(|(n, v)| (n.clone(), v.clone())).collect();
        let (rate, arrivals) = match plan.drive.pace {
            // Where the workload has a rate of its own, a closed loop was asked for.
            Pace::ClosedLoop => (plan.drive.own_rate_per_s.map(|_| RateOrder::None), None),
            Pace::Rate(Rate { per_s, arrivals }) => {
                let per_s = plan.drive.rate_steps.as_ref().map_or(per_s, |steps| steps.per_s);
                (Some(RateOrder::PerS(per_s)), Some(arrivals).filter(|how| *how != Arrivals::default()))
            }
        };
        let rate_steps = match &plan.drive.rate_steps {
            Some(steps) => Some(RateStepsOrder::Each(steps.step_s)),
            // Where the workload has a rate of its own, it may have steps that runs follow.
            None => plan.drive.own_rate_per_s.and(plan.drive.pace.rate()).map(|_| RateStepsOrder::None),
        };
        Self {
            workload: WorkloadOrder { names, params: pairs(&plan.params), ..WorkloadOrder::default() },
            target: TargetOrder {
                target: plan.target_dsn.as_ref().or(plan.target.as_option()).cloned(),
                shown_as: plan.target_dsn.as_ref().map(|_| plan.target.clone()),
                settings: pairs(&plan.settings),
                tcp: plan.tcp,
                ..TargetOrder::default()
            },
            drive: DriveOrder {
                clients: Some(plan.drive.clients),
                connections: plan.drive.connections,
                threads: u16::try_from(plan.drive.threads).ok(),
                pin: plan.drive.pin.clone(),
                time: plan.drive.time_s,
                transactions: plan.drive.transactions,
                ramp: Some(plan.drive.ramp_s),
                grace: Some(plan.drive.grace_s),
                rate,
                rate_steps,
                arrivals,
                mode: Some(plan.drive.mode),
                wire: Some(plan.drive.wire),
                max_tries: Some(plan.drive.max_tries),
                latency_limit: plan.drive.latency_limit_ms,
                reconnect: Some(plan.drive.reconnect_s),
                ledger: plan.drive.ledger.is_some(),
                commit_timeout: plan.drive.ledger.map(|ledger| ledger.commit_timeout_s),
                readers: plan.drive.readers.clone(),
                coalesce: plan.drive.coalesce_us,
                random_seed: Some(plan.seed),
            },
            fault: plan.fault.as_ref().map(FaultOrder::of).unwrap_or_default(),
            analytics: AnalyticsOrder {
                target: plan.drive.analytics.target.clone(),
                settings: pairs(&plan.drive.analytics.settings),
            },
            loading: LoadingOrder {
                loaders: u16::try_from(plan.load.loaders).ok(),
                resumable: plan.load.resumable,
                unlogged: plan.load.unlogged,
            },
            recipe: RecipeOrder::default(),
            cycle: CycleOrder {
                restart: plan.cycle.restart,
                drop_caches: plan.cycle.drop_caches,
                prewarm: plan.cycle.prewarm,
                checkpoint: plan.cycle.checkpoint,
                provision: plan.cycle.provision,
                done: Vec::new(),
            },
            watch: WatchOrder {
                no_samples: plan.watch.off,
                // The text of a command is not stored: it may contain a password.
                os_metrics: plan.watch.os.clone().filter(|how| is_ssh(how)),
                statement_plans: Some(plan.watch.statement_plans),
                plans: plan.watch.plans,
                perf: plan.watch.perf,
            },
            meeting: MeetingOrder { agents: plan.drive.agents, ..MeetingOrder::default() },
            suite: None,
            no_load: plan.load.choice == LoadWhen::Never,
            replace: plan.load.choice == LoadWhen::Always,
            from_template: plan.from_template.clone(),
            no_check: !plan.load.checks,
            no_vacuum: plan.load.no_vacuum,
            allow_schema_changes: plan.load.allow_schema_changes,
            latency_percentiles: Some(plan.percentiles.clone()).filter(|list| !list.is_empty()),
            log: plan.log,
            labels: Vec::new(),
            objectives: Vec::new(),
            json: None,
            out: None,
        }
    }

    /// Returns the directory of run directories.
    #[must_use]
    pub fn results(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new(RESULTS))
    }
}

/// A workload and its parameters. The workload checks the values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WorkloadOrder {
    /// A workload, a directory with `workload.toml` or a recipe; or script files, `FILE` or `FILE@WEIGHT`.
    pub names: Vec<String>,
    /// Values of the options that workloads have, by the option's name: `warehouses`, `field-bytes`.
    pub options: OptionValues,
    /// Parameters of the workload or variables of scripts, in the order in which they were given.
    pub params: Vec<(String, String)>,
}

/// A workload in an order that was stored. Until 0.3.0 each option was a field of its own.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredWorkload {
    names: Vec<String>,
    options: OptionValues,
    params: Vec<(String, String)>,
    #[serde(flatten)]
    older: BTreeMap<String, Option<OlderValue>>,
}

/// A value of an option in an older order.
#[derive(Deserialize)]
#[serde(untagged)]
enum OlderValue {
    Flag(bool),
    Seconds(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for WorkloadOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredWorkload::deserialize(deserializer).map(Self::from)
    }
}

impl From<StoredWorkload> for WorkloadOrder {
    fn from(stored: StoredWorkload) -> Self {
        let mut options = stored.options;
        for (field, value) in stored.older {
            let (name, value) = match (field.as_str(), value) {
                (_, None | Some(OlderValue::Flag(false))) => continue,
                ("keying_time", Some(OlderValue::Flag(true))) => (field.as_str(), "on".to_owned()),
                ("no_think", Some(OlderValue::Flag(true))) => (field.as_str(), "off".to_owned()),
                ("no_refresh", Some(OlderValue::Flag(true))) => (field.as_str(), "false".to_owned()),
                (_, Some(OlderValue::Flag(true))) => (field.as_str(), "true".to_owned()),
                (_, Some(OlderValue::Seconds(seconds))) => (field.trim_end_matches("_s"), format!("{seconds:.3}")),
                (_, Some(OlderValue::Text(text))) => (field.as_str(), text),
            };
            options.insert(name.replace('_', "-"), value);
        }
        Self { names: stored.names, options, params: stored.params }
    }
}

impl WorkloadOrder {
    /// Returns the first name, or the default workload.
    #[must_use]
    pub fn id(&self) -> &str {
        self.names.first().map_or(WORKLOAD, String::as_str)
    }
}

/// The server of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TargetOrder {
    /// A connection string, a name in `pgdyno.toml`, `embedded` with or without a version or directory, or `null`.
    pub target: Option<TargetName>,
    /// The file with the named targets; by default [`targets::FILE`].
    pub config: Option<PathBuf>,
    /// Settings of the server, in the order in which they were given.
    pub settings: Vec<(String, String)>,
    /// Connect to the private server by TCP.
    pub tcp: bool,
    /// The name in plan and record instead of the target's address.
    pub shown_as: Option<TargetName>,
    /// Maximum number of bytes of loaded data that private servers keep for later runs; 0 keeps and uses none.
    pub cache_bytes: Option<u64>,
}

impl TargetOrder {
    /// Returns the file with the targets that have names.
    #[must_use]
    pub fn config(&self) -> &Path {
        self.config.as_deref().unwrap_or(Path::new(targets::FILE))
    }
}

/// Clients, pace and length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DriveOrder {
    /// Clients.
    pub clients: Option<u32>,
    /// Connections that the clients share.
    pub connections: Option<u32>,
    /// Engine threads.
    pub threads: Option<u16>,
    /// CPUs that engine threads are pinned to, as [`cpus::pin`](crate::cpus::pin) takes them.
    pub pin: Option<String>,
    /// Measured window in seconds.
    #[serde(rename = "time_s")]
    pub time: Option<f64>,
    /// Transactions of each client, instead of a time.
    pub transactions: Option<u64>,
    /// Warm-up in seconds.
    #[serde(rename = "ramp_s")]
    pub ramp: Option<f64>,
    /// Seconds that transactions in flight at the end may take.
    #[serde(rename = "grace_s")]
    pub grace: Option<f64>,
    /// Transactions a second over all clients, or what multiple of the workload's own rate.
    #[serde(rename = "rate_per_s")]
    pub rate: Option<RateOrder>,
    /// Whether the rate changes in the workload's steps.
    pub rate_steps: Option<RateStepsOrder>,
    /// The distribution of the arrivals of the rate.
    pub arrivals: Option<Arrivals>,
    /// Query mode.
    pub mode: Option<QueryMode>,
    /// The format in which statements are sent.
    pub wire: Option<Wire>,
    /// Tries of a transaction that meets a serialization failure or a deadlock; 0 means no limit.
    pub max_tries: Option<u32>,
    /// Milliseconds above which a transaction is late.
    #[serde(rename = "latency_limit_ms")]
    pub latency_limit: Option<f64>,
    /// Seconds during which a lost connection is tried again.
    #[serde(rename = "reconnect_s")]
    pub reconnect: Option<f64>,
    /// Keep a ledger of the commits.
    pub ledger: bool,
    /// Seconds that a client of a run with a ledger waits for a reply.
    #[serde(rename = "commit_timeout_s")]
    pub commit_timeout: Option<f64>,
    /// Servers that run what only reads, in the order in which they were given.
    pub readers: Vec<String>,
    /// Microseconds for which replies may lie unread, so that one wake-up of a thread reads several.
    #[serde(rename = "coalesce_us")]
    pub coalesce: Option<f64>,
    /// The seed of all random choices.
    pub random_seed: Option<u64>,
}

/// Faults that a run causes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct FaultOrder {
    /// The fault, or the file of a program.
    pub kind: Option<FaultName>,
    /// Seconds since the start of the measured window.
    #[serde(rename = "at_s")]
    pub at: Option<f64>,
    /// Seconds from the start of one to that of the next.
    #[serde(rename = "every_s")]
    pub every: Option<f64>,
    /// Number of faults; without `every_s`, of sets of queries of tproc-h or tproc-ds.
    pub repeat: Option<u32>,
}

impl FaultOrder {
    fn of(plan: &FaultPlan) -> Self {
        let repeat = plan.every_s.map(|_| plan.repeat);
        Self { kind: Some(plan.kind.clone()), at: Some(plan.at_s), every: plan.every_s, repeat }
    }
}

/// How streams of queries connect, where they run beside transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AnalyticsOrder {
    /// Another server for them: a connection string, or a name in `pgdyno.toml`.
    pub target: Option<String>,
    /// Settings of their sessions, in the order in which they were given.
    pub settings: Vec<(String, String)>,
}

/// How data is loaded, if it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LoadingOrder {
    /// Connections that load.
    pub loaders: Option<u16>,
    /// An interrupted load can resume.
    pub resumable: bool,
    /// Fill tables unlogged.
    pub unlogged: bool,
}

/// How a recipe is followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RecipeOrder {
    /// The size whose numbers are used unchanged.
    pub size: Option<String>,
    /// The variant of the size.
    pub variant: Option<String>,
    /// Scale the numbers to the server's CPUs and memory.
    pub fit: bool,
    /// Divide times by this.
    pub short: Option<f64>,
}

/// Steps on the server around a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CycleOrder {
    /// Restart the server first.
    pub restart: bool,
    /// Drop its files from the operating system's cache.
    pub drop_caches: bool,
    /// Read tables and indexes into the caches before the warm-up.
    pub prewarm: bool,
    /// CHECKPOINT before the warm-up.
    pub checkpoint: bool,
    /// Provision the target before the run and tear it down after it.
    pub provision: bool,
    /// Steps that a parent process already did for this run, and their evidence.
    pub done: Vec<(String, String)>,
}

/// Agents on other machines that are one driver together, and where they meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MeetingOrder {
    /// The connection string of the meeting database. It may contain a password: plans and records do not have it.
    pub meet: Option<String>,
    /// Number of agents; without it this process drives alone.
    pub agents: Option<u32>,
    /// The machines on which they are started by ssh, as ssh names them; empty where they are started otherwise.
    pub ssh: Vec<String>,
    /// Seconds to wait for them.
    #[serde(rename = "wait_s")]
    pub wait: Option<f64>,
}

/// How server and machines are sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct WatchOrder {
    /// Sample nothing.
    pub no_samples: bool,
    /// How the server's machine is read: `ssh user@host`, or a command that prints CSV.
    pub os_metrics: Option<String>,
    /// Number of statements whose plans are stored.
    pub statement_plans: Option<u32>,
    /// Explain the workload's queries after the measured time.
    pub plans: bool,
    /// Profile the server's processes in the measured window.
    pub perf: bool,
}

/// Returns true if samples came by ssh to a machine. A record of others may have options of ssh, which start programs.
fn is_ssh(how: &str) -> bool {
    how.strip_prefix("ssh ").is_some_and(|machine| !machine.starts_with('-') && !machine.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_back_as_it_was_written_and_what_is_not_said_is_open() {
        let mut order = Order::of("tproc-c");
        order.drive.clients = Some(4);
        order.workload.params.push(("seed".to_owned(), "5".to_owned()));
        let written = toml::Value::try_from(&order).unwrap();
        assert_eq!(written.try_into::<Order>().unwrap(), order);
        assert_eq!(toml::from_str::<Order>("workload.names = ['noop']").unwrap(), Order::of("noop"));
    }

    #[test]
    fn options_of_workloads_in_an_older_order_are_read() {
        let older = r#"{"names": ["tproc-h"], "warehouses": null, "scale": "0.5", "alone": false, "no_refresh": true,
            "keying_time": true, "no_think": true, "validation": true, "field_bytes": "40", "timeout_s": 300.0, "params": [["a", "b"]]}"#;
        let order: WorkloadOrder = serde_json::from_str(older).unwrap();
        let options: Vec<_> = order.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            options,
            [
                "field-bytes=40",
                "keying-time=on",
                "no-refresh=false",
                "no-think=off",
                "scale=0.5",
                "timeout=300.000",
                "validation=true"
            ]
        );
        assert_eq!((order.names, order.params), (vec!["tproc-h".to_owned()], vec![("a".to_owned(), "b".to_owned())]));
    }
}
