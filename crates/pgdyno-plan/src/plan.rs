//! The plan of a run as plain data.

use std::collections::BTreeMap;

use pgdyno_wire::{QueryMode, Wire};
use pgdyno_workload::Pace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::{StagePlan, TargetName};

/// Whether the data is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadChoice {
    /// Unless the same data is already there.
    #[default]
    IfMissing,
    /// Always; data that pgdyno loaded earlier is dropped.
    Always,
    /// Never: without the data the run does not start.
    Never,
}

/// A script of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptPlan {
    /// The file as the user named it.
    pub file: String,
    /// Its share of the mix, relative to the sum of all.
    pub weight: u32,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
}

/// Maximum size of a file whose text is stored in the plan, if it is UTF-8.
pub const INLINE_BYTES: usize = 64 << 10;

/// A file of a workload of the user's, with its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputFile {
    /// Its name within the directory of the workload; for a script, as the user named it.
    pub file: String,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Its text; absent if it is larger than [`INLINE_BYTES`] or not UTF-8. Then it is the file `inputs/SHA256` of the
    /// run directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl InputFile {
    /// Returns the file with these bytes.
    #[must_use]
    pub fn new(file: &str, bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= INLINE_BYTES);
        Self { file: file.to_owned(), sha256: sha256(bytes), text: text.map(str::to_owned) }
    }
}

/// Returns the SHA-256 of these bytes in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Steps on the server around a run, in addition to the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cycle {
    /// Restart the server before the data is loaded, which empties its caches.
    pub restart: bool,
    /// Drop the server's files from its operating system's cache, after the restart.
    pub drop_caches: bool,
    /// Read the workload's tables and indexes into the caches before the warm-up (`pg_prewarm`).
    pub prewarm: bool,
    /// CHECKPOINT before the warm-up.
    pub checkpoint: bool,
    /// Provision the target before the run, and tear it down after it.
    pub provision: bool,
}

impl Cycle {
    /// Returns true if there are no steps.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A figure that a document published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// The name of the figure as in the summary of a record: `nopm`, `tpm`, `tps`, `qps`, `latency_ms_mean`,
    /// `latency_ms_stddev`, `server_cpu_percent`.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// What the document says about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What a recipe's numbers were scaled to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fitted {
    /// CPUs of the server that the run is for.
    pub vcpus: u32,
    /// Memory of that server that the size of the data is based on.
    pub memory_bytes: u64,
    /// The rule and its result, as text.
    pub rule: String,
}

/// How much a recipe's times were shortened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shortened {
    /// The divisor.
    pub by: f64,
    /// The document's measured window.
    pub time_s: f64,
    /// The document's warm-up.
    pub ramp_s: f64,
}

/// The recipe that a run follows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecipePlan {
    /// Its name: `alloydb/tpcc-full`.
    pub name: String,
    /// The document and its date.
    pub source: String,
    /// The name of the size whose numbers are used: `16vcpu`.
    pub size: String,
    /// The variant of that size, if it has several: `100M`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// The machine of the published figures.
    pub machine: String,
    /// Figures of the document for this size and variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// The share of the data that is to fit in the cache, 0 to 1, if the recipe says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Present if the numbers are not the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fitted>,
    /// Present if the times are not the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened: Option<Shortened>,
    /// Arguments that the user gave instead of the recipe's, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<String>,
}

/// How streams of queries connect, where they run beside transactions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnalyticsPlan {
    /// Another server for them, without a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Settings of their sessions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl AnalyticsPlan {
    /// Returns true if they connect as all clients do.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// How server and machines are watched while the clients run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WatchPlan {
    /// Whether nothing is sampled.
    pub off: bool,
    /// How the server's machine is read, if not by this program from `/proc`: `ssh user@host` or `command`, whose text
    /// is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// Number of statements whose plans are stored.
    pub statement_plans: u32,
    /// Whether the workload's queries are explained after the measured time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plans: bool,
    /// Whether the server's processes are profiled in the measured window.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub perf: bool,
}

impl WatchPlan {
    /// Returns true if all values are the defaults.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// The place of a run in a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuitePlan {
    /// The suite's name.
    pub suite: String,
    /// The identifier of this execution of the suite.
    pub id: String,
    /// The run's key within the suite: a run and its repetition after an interruption have the same one.
    pub run: String,
    /// The number of the repetition of the same cell of the matrix, from 1.
    pub repetition: u32,
}

/// Everything that decides what a run does. Two runs of the same plan differ only by the server, the machine and
/// chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The workload's id.
    pub workload: String,
    /// All of its parameters, defaults included.
    pub params: BTreeMap<String, String>,
    /// The scripts of a workload that is made of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<ScriptPlan>,
    /// The directory of a workload of the user's, as it was named; of a workload that is part of the program, its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The files of a workload of the user's, or of a directory that is part of the program. Absent in plans of 0.1.0
    /// and of the drop-in, which name scripts without their texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputFile>,
    /// The name of the size's unit; empty for a workload without data.
    pub scale_name: String,
    /// The size.
    pub scale: u64,
    /// Bytes of tables and indexes after the load, as the workload estimates them.
    pub data_bytes_estimated: u64,
    /// The other program that loaded the data, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_from: Option<String>,
    /// The target, without passwords: `embedded`, `embedded:18`, `null`, or a connection string.
    pub target: TargetName,
    /// The address of a named `target`, without a password; absent if `target` is the address, for the private server
    /// of a suite, and in plans of 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_dsn: Option<TargetName>,
    /// Whether a private server is reached by TCP instead of its socket.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tcp: bool,
    /// The recipe that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<RecipePlan>,
    /// Its place in a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuitePlan>,
    /// Steps on the server around it.
    #[serde(default, skip_serializing_if = "Cycle::is_nothing")]
    pub cycle: Cycle,
    /// Settings of the server that the run asks for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The database of which the run uses a fresh copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_template: Option<String>,
    /// Whether the data is loaded.
    pub load: LoadChoice,
    /// Connections that load.
    pub loaders: usize,
    /// Whether an interrupted load of any size can resume.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumable: bool,
    /// Whether tables are filled unlogged and made logged afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlogged: bool,
    /// Whether the data is checked before and after the run.
    pub checks: bool,
    /// Whether the VACUUM and TRUNCATE that its workload starts with are skipped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_vacuum: bool,
    /// Whether a schema that differs from the loaded one is allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_schema_changes: bool,
    /// Clients, or virtual users.
    pub clients: u32,
    /// Connections that they share, each for the time of a transaction; absent if each client has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// How streams of queries connect.
    #[serde(default, skip_serializing_if = "AnalyticsPlan::is_usual")]
    pub analytics: AnalyticsPlan,
    /// Engine threads, of all agents if there are any.
    pub threads: usize,
    /// Agents on other machines that drive instead of this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<u32>,
    /// The CPUs that engine threads are pinned to: `all` that the process may use, or a list such as `0,2-4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// The query mode.
    pub mode: QueryMode,
    /// The format in which statements are sent.
    #[serde(default, skip_serializing_if = "Wire::is_native")]
    pub wire: Wire,
    /// When transactions start.
    pub pace: Pace,
    /// Warm-up in seconds.
    pub ramp_s: f64,
    /// The measured window in seconds; absent with a number of transactions.
    pub time_s: Option<f64>,
    /// Transactions of each client, instead of a time.
    pub transactions: Option<u64>,
    /// How long transactions in flight at the end may take before they are cancelled, in seconds.
    #[serde(default = "usual_grace", skip_serializing_if = "is_usual_grace")]
    pub grace_s: f64,
    /// The stages, if there is more than one stage or group of clients. The plan's own values, such as `clients` and
    /// `pace`, are the defaults of groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StagePlan>,
    /// Tries of a transaction that meets 40001 or 40P01; 0 means no limit.
    pub max_tries: u32,
    /// A transaction with a greater latency counts as late; with a rate, late ones are skipped.
    pub latency_limit_ms: Option<f64>,
    /// How long a lost connection is tried again.
    pub reconnect_s: f64,
    /// How long replies may lie unread, so that one wake-up of a thread reads several, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalesce_us: Option<f64>,
    /// Percentiles that reports show in addition to the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<f64>,
    /// Whether every transaction is logged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
    /// How server and machines are watched.
    #[serde(default, skip_serializing_if = "WatchPlan::is_usual")]
    pub watch: WatchPlan,
    /// The seed of all random streams.
    pub seed: u64,
}

fn usual_grace() -> f64 {
    Plan::USUAL_GRACE_S
}

fn is_usual_grace(grace_s: &f64) -> bool {
    *grace_s == Plan::USUAL_GRACE_S
}

impl Plan {
    /// Default of how long transactions in flight at the end may take, in seconds.
    pub const USUAL_GRACE_S: f64 = 5.0;

    /// Returns its scale as text: `1,000`, or a fraction as it was given.
    #[must_use]
    pub fn size(&self) -> String {
        self.fraction().map_or_else(|| pgdyno_text::units::count(self.scale), str::to_owned)
    }

    /// Returns where its threads are pinned, as text that follows their number; empty if they are not.
    #[must_use]
    pub fn pinned(&self) -> String {
        match self.pin.as_deref() {
            None => String::new(),
            Some(crate::cpus::ALL) => ", a CPU each".to_owned(),
            Some(cpus) => format!(" on CPUs {cpus}"),
        }
    }

    /// Returns a hash of what the plan does. Plans have the same hash if they differ only in their seed, their suite,
    /// the paths of their files, the address of a named target, or what is shown of them. Files count by their content.
    #[must_use]
    pub fn hash(&self) -> String {
        // Names within a directory matter; a script is identified by its hash.
        let is_directory = self.directory.is_some();
        let input = |input: &InputFile| InputFile { text: None, ..input.clone() };
        let script = |script: &ScriptPlan| match is_directory {
            true => script.clone(),
            false => ScriptPlan { file: String::new(), ..script.clone() },
        };
        let plan = Self {
            seed: 0,
            percentiles: Vec::new(),
            suite: None,
            directory: None,
            target_dsn: None,
            scripts: self.scripts.iter().map(script).collect(),
            inputs: self.inputs.iter().filter(|_| is_directory).map(input).collect(),
            ..self.clone()
        };
        // A plan is plain data: it can always be serialised.
        let json = serde_json::to_vec(&plan).unwrap_or_default();
        sha256(&json)[..16].to_owned()
    }
}

#[cfg(test)]
pub(crate) fn example() -> Plan {
    Plan {
        workload: "tproc-c".into(),
        params: [("warehouses".into(), "10".into())].into(),
        scripts: Vec::new(),
        inputs: Vec::new(),
        directory: None,
        scale_name: "warehouses".into(),
        scale: 10,
        data_bytes_estimated: 1_000_000_000,
        data_from: None,
        target: "embedded".into(),
        target_dsn: None,
        tcp: false,
        recipe: None,
        suite: None,
        cycle: Cycle::default(),
        settings: BTreeMap::new(),
        from_template: None,
        load: LoadChoice::IfMissing,
        loaders: 2,
        resumable: false,
        unlogged: false,
        checks: true,
        no_vacuum: false,
        allow_schema_changes: false,
        clients: 16,
        connections: None,
        analytics: AnalyticsPlan::default(),
        threads: 1,
        agents: None,
        pin: None,
        mode: QueryMode::Prepared,
        wire: Wire::Native,
        pace: Pace::ClosedLoop,
        ramp_s: 5.0,
        time_s: Some(30.0),
        transactions: None,
        grace_s: Plan::USUAL_GRACE_S,
        stages: Vec::new(),
        max_tries: 3,
        latency_limit_ms: None,
        reconnect_s: 0.0,
        coalesce_us: None,
        percentiles: Vec::new(),
        log: false,
        watch: WatchPlan::default(),
        seed: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_script(path: &str, text: &[u8]) -> Plan {
        let input = InputFile::new(path, text);
        let script = ScriptPlan { file: path.to_owned(), weight: 1, sha256: input.sha256.clone() };
        Plan { scripts: vec![script], inputs: vec![input], ..example() }
    }

    #[test]
    fn a_plan_is_known_by_the_content_of_its_files() {
        let plan = with_script("a.sql", b"SELECT 1;");
        assert_eq!(plan.hash(), with_script("/elsewhere/a.sql", b"SELECT 1;").hash());
        assert_ne!(plan.hash(), with_script("a.sql", b"SELECT 2;").hash());
        // A record that lacks the text has the same plan.
        assert_eq!(plan.hash(), Plan { inputs: Vec::new(), ..plan.clone() }.hash());

        let directory = |place: &str, schema: &[u8]| Plan {
            directory: Some(place.to_owned()),
            inputs: vec![InputFile::new("schema.sql", schema)],
            ..plan.clone()
        };
        assert_eq!(directory("a", b"x").hash(), directory("/b", b"x").hash());
        assert_ne!(directory("a", b"x").hash(), directory("a", b"y").hash());
    }

    #[test]
    fn small_texts_stand_in_the_plan() {
        let input = InputFile::new("a.sql", b"SELECT 1;");
        assert_eq!(input.text.as_deref(), Some("SELECT 1;"));
        assert_eq!(input.sha256, "17db4fd369edb9244b9f91d9aeed145c3d04ad8ba6e95d06247f07a63527d11a");
        assert_eq!(InputFile::new("a.sql", &[b' '; INLINE_BYTES + 1]).text, None);
        assert_eq!(InputFile::new("a.sql", &[0xff]).text, None);
    }
}
