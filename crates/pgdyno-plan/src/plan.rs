//! The plan of a run as plain data.

mod cycle;
mod drive;
mod files;
mod load;
mod recipe;
mod watch;

pub use cycle::Cycle;
pub use drive::{AnalyticsPlan, DrivePlan, LedgerPlan};
pub use files::{INLINE_BYTES, InputFile, ScriptPlan, sha256};
pub use load::{LoadPlan, LoadWhen};
pub use recipe::{Fitted, Published, RecipePlan, Shortened};
pub use watch::WatchPlan;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{FaultPlan, TargetName};

/// The place of a run in a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// How the data is loaded and checked.
    #[serde(flatten)]
    pub load: LoadPlan,
    /// What drives the server, and for how long.
    #[serde(flatten)]
    pub drive: DrivePlan,
    /// Faults that it causes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultPlan>,
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

impl Plan {
    /// Returns its scale as text: `1,000`, or a fraction as it was given.
    #[must_use]
    pub fn size(&self) -> String {
        self.fraction().map_or_else(|| pgdyno_text::units::count(self.scale), str::to_owned)
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
        load: LoadPlan { loaders: 2, checks: true, ..LoadPlan::default() },
        drive: DrivePlan {
            clients: 16,
            connections: None,
            analytics: AnalyticsPlan::default(),
            readers: Vec::new(),
            threads: 1,
            agents: None,
            pin: None,
            mode: pgdyno_wire::QueryMode::Prepared,
            wire: pgdyno_wire::Wire::Native,
            pace: pgdyno_workload::Pace::ClosedLoop,
            rate_steps: None,
            own_rate_per_s: None,
            ramp_s: 5.0,
            time_s: Some(30.0),
            transactions: None,
            grace_s: DrivePlan::USUAL_GRACE_S,
            stages: Vec::new(),
            max_tries: 3,
            latency_limit_ms: None,
            reconnect_s: 0.0,
            ledger: None,
            coalesce_us: None,
        },
        fault: None,
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
