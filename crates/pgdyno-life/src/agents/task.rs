//! What a coordinator asks of its agents, and what they answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgdyno_engine::{ErrorSample, ProcessUsage, RunEnd, RunOutcome};
use pgdyno_measure::{IntervalPart, ListBounds};
use pgdyno_meet::TASK_BYTES_MAX;
use pgdyno_plan::{Facts, Loaded, Plan, TargetName, WorkloadOrder};
use pgdyno_results::{ClientRecord, Execution};
use pgdyno_untrusted::TerminalText;
use pgdyno_wire::SqlState;
use pgdyno_workload::Capabilities;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A task of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Connect to the target, and say which server it is.
    Look(LookTask),
    /// Drive a share of the clients, from a common start.
    Drive(Box<DriveTask>),
    /// Help with a load.
    Load(Box<LoadTask>),
}

impl Task {
    /// Returns it as bytes for agents.
    ///
    /// # Errors
    /// When it is too large for a meeting: it has the files of the workload.
    pub(crate) fn to_bytes(&self) -> Result<Arc<[u8]>, String> {
        match encode(self)? {
            bytes if bytes.len() > TASK_BYTES_MAX => Err(format!(
                "the files of the workload make {} bytes for each agent, and a meeting takes at most {TASK_BYTES_MAX}",
                bytes.len()
            )),
            bytes => Ok(bytes.into()),
        }
    }
}

/// A look at the target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LookTask {
    /// The target, without a password; `None` if the workload needs none, or each agent starts its own.
    pub(crate) target: Option<TargetName>,
    /// Connections that the agent will need at most.
    pub(crate) links: u32,
}

/// What an agent saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Looked {
    /// The system identifier of the server and its start; absent without one, and if it does not say.
    pub(crate) system_identifier: Option<String>,
}

/// A load that has begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadTask {
    /// The target, without a password.
    pub(crate) target: TargetName,
    /// The database, also where the agent has its own words for the target.
    pub(crate) database: String,
    /// The workload, which is built in, and its parameters.
    pub(crate) workload: WorkloadOrder,
    /// The data of it that was there.
    pub(crate) loaded: Option<Loaded>,
    /// What the server can do.
    pub(crate) caps: Capabilities,
    /// The data set of the workload, and the identity of the load: both machines make the same rows of it.
    pub(crate) dataset: String,
    pub(crate) identity: String,
    /// The schema of the load.
    pub(crate) schema: String,
    /// Connections; by default as many as suit the machine.
    pub(crate) loaders: Option<u16>,
}

/// A share of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DriveTask {
    /// The plan of the whole run.
    pub(crate) plan: Plan,
    /// The facts that it was made from.
    pub(crate) facts: Facts,
    /// What the server can do.
    pub(crate) caps: Capabilities,
    /// Files of the workload that are too large for the plan, by their SHA-256, in base64.
    pub(crate) files: BTreeMap<String, String>,
    /// The database, if it is not the target's own.
    pub(crate) database: Option<String>,
    /// Settings of each session, in the form of libpq's `options`.
    pub(crate) options: Option<String>,
    /// How groups of queries connect, if that is another way; the server is the same.
    pub(crate) queries: Option<QueriesTask>,
    /// The stage of the workload, from 0.
    pub(crate) stage: usize,
    /// The agent's place.
    pub(crate) driver: usize,
    /// Number of agents.
    pub(crate) drivers: usize,
}

/// How sessions of queries differ from others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct QueriesTask {
    /// Their name, by which samples distinguish them from others.
    pub(crate) application_name: Option<String>,
    /// Settings of each session, in the form of libpq's `options`.
    pub(crate) options: Option<String>,
}

impl DriveTask {
    /// Returns files with their contents as a task has them.
    pub(crate) fn files<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> BTreeMap<String, String> {
        files.into_iter().map(|(hash, bytes)| (hash.to_owned(), STANDARD.encode(bytes))).collect()
    }

    /// Returns the contents of the files.
    pub(crate) fn contents(&self) -> Result<Vec<(&str, Vec<u8>)>, String> {
        let decoded = |(hash, text): (&'_ String, &String)| match STANDARD.decode(text) {
            Ok(bytes) => Ok((hash.clone(), bytes)),
            Err(error) => Err(format!("file {hash} cannot be read: {error}")),
        };
        let all: Vec<_> = self.files.iter().map(decoded).collect::<Result<_, _>>()?;
        Ok(self.files.keys().map(String::as_str).zip(all.into_iter().map(|(_, bytes)| bytes)).collect())
    }
}

/// What an agent sends while it drives.
#[derive(Debug)]
pub(crate) enum Batch {
    /// An interval has ended.
    Interval(Box<IntervalPart>),
    /// Queries have ended. Their times count from the start of the stage.
    Executions(Vec<Execution>),
    /// Something worth knowing happened.
    Note(String),
}

const INTERVAL: u8 = b'I';
const EXECUTIONS: u8 = b'E';
const NOTE: u8 = b'N';

impl Batch {
    /// Returns it as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Interval(interval) => [&[INTERVAL], &interval.to_bytes()[..]].concat(),
            // Plain data can always be written.
            Self::Executions(executions) => [&[EXECUTIONS], &encode(executions).unwrap_or_default()[..]].concat(),
            Self::Note(text) => [&[NOTE], text.as_bytes()].concat(),
        }
    }

    /// Reads what [`Batch::to_bytes`] wrote in a run of this shape.
    pub(crate) fn from_bytes(bytes: &[u8], shape: &ListBounds) -> Result<Self, String> {
        match bytes.split_first() {
            Some((&INTERVAL, rest)) => {
                let interval = IntervalPart::from_bytes(rest, shape).map_err(|error| error.to_string())?;
                Ok(Self::Interval(Box::new(interval)))
            }
            Some((&EXECUTIONS, rest)) => decode(rest).map(Self::Executions),
            Some((&NOTE, rest)) => Ok(Self::Note(TerminalText(&String::from_utf8_lossy(rest)).to_string())),
            _ => Err("a batch is of no known kind".to_owned()),
        }
    }
}

/// How an agent's share of a run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Drove {
    /// Why its clients ended early, if the server was lost to all of them.
    pub(crate) server_lost: Option<String>,
    pub(crate) connect_ns: u64,
    pub(crate) threads: usize,
    pub(crate) clients: u32,
    pub(crate) clients_lost: usize,
    pub(crate) clients_aborted: usize,
    pub(crate) cancelled_in_flight: usize,
    pub(crate) errors: Vec<SentError>,
    pub(crate) user_ns: u64,
    pub(crate) sys_ns: u64,
    /// When its clients began, by the clock of the meeting server, in nanoseconds since 1970.
    pub(crate) began_ns: Option<u64>,
    /// How far that may be off.
    pub(crate) clock_error_ns: Option<u64>,
    /// The agent's machine.
    pub(crate) client: ClientRecord,
}

/// Errors with one SQLSTATE.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentError {
    pub(crate) code: String,
    pub(crate) count: u64,
    pub(crate) message: String,
    pub(crate) place: Option<String>,
}

impl Drove {
    /// Returns the answer of an agent whose engine ended so.
    pub(crate) fn of(outcome: &RunOutcome, client: ClientRecord) -> Self {
        let error = |(code, sample): (&SqlState, &ErrorSample)| SentError {
            code: code.to_string(),
            count: sample.count,
            message: sample.message.clone(),
            place: sample.place.clone(),
        };
        Self {
            server_lost: match &outcome.ended {
                RunEnd::ServerLost(why) => Some(why.clone()),
                _ => None,
            },
            connect_ns: outcome.connect_ns,
            threads: outcome.threads,
            clients: outcome.clients,
            clients_lost: outcome.clients_lost,
            clients_aborted: outcome.clients_aborted,
            cancelled_in_flight: outcome.cancelled_in_flight,
            errors: outcome.errors.iter().map(error).collect(),
            user_ns: outcome.process.user_ns,
            sys_ns: outcome.process.sys_ns,
            began_ns: None,
            clock_error_ns: None,
            client: ClientRecord { rss_bytes_max: outcome.process.rss_bytes_max, ..client },
        }
    }

    /// Returns the CPU time of its process.
    pub(crate) fn usage(&self) -> ProcessUsage {
        ProcessUsage { user_ns: self.user_ns, sys_ns: self.sys_ns, rss_bytes_max: 0 }
    }
}

/// Returns something that a task or its answer consists of as bytes.
pub(crate) fn encode(value: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(value).map_err(|error| error.to_string())
}

/// Reads what [`encode`] wrote.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("a message cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_notes_are_read_back() {
        let contents = [("ab", &[0_u8, 255, 7][..]), ("cd", b"SELECT 1;")];
        let task = DriveTask {
            plan: serde_json::from_value(plan()).unwrap(),
            facts: Facts::unknown(),
            caps: Capabilities::default(),
            files: DriveTask::files(contents),
            database: None,
            options: None,
            queries: None,
            stage: 0,
            driver: 0,
            drivers: 1,
        };
        let task: DriveTask = decode(&encode(&task).unwrap()).unwrap();
        let read = task.contents().unwrap();
        assert_eq!(read.iter().map(|(hash, bytes)| (*hash, &bytes[..])).collect::<Vec<_>>(), contents);
        let shape = ListBounds { groups: 1, txns: 1, stmts: 1, tallies: 0, threads: 1, clients: 1 };
        let read = |batch: &Batch| Batch::from_bytes(&batch.to_bytes(), &shape);
        let Ok(Batch::Note(text)) = read(&Batch::Note("lost\u{1b}[2J".to_owned())) else { panic!() };
        assert_eq!(text, "lost\\u{1b}[2J");
        let ended = vec![Execution { stage: "power".to_owned(), end_s: 1.25, ..Execution::default() }];
        let Ok(Batch::Executions(found)) = read(&Batch::Executions(ended.clone())) else { panic!() };
        assert_eq!(found, ended);
        assert!(Batch::from_bytes(b"", &shape).is_err() && Batch::from_bytes(b"Ix", &shape).is_err());
    }

    fn plan() -> serde_json::Value {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let record: serde_json::Value = serde_json::from_str(text).unwrap();
        record["plan"].clone()
    }
}
