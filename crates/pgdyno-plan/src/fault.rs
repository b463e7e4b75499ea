//! Faults that a run causes while its clients drive. No other file knows the texts that name them.

mod failover;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use failover::FailoverKind;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The postmaster and all of its processes are killed (SIGKILL), and the server is started again.
    Kill,
    /// A fast shutdown: sessions end, and a checkpoint is written.
    Restart,
    /// An immediate shutdown: without a checkpoint, so that the server recovers.
    RestartImmediate,
    /// The backend of one client is killed (SIGKILL), so that the server ends all sessions and recovers.
    CrashBackend,
    /// The primary is killed and stays down, and its standby is promoted.
    Promote,
    /// The server is killed, and loses what was written and not yet synced.
    PowerLoss,
    /// A failover that a program of a cluster manager or of a cloud orders.
    Failover(FailoverKind),
    /// A program of the user.
    Program,
}

/// A fault as orders, plans and records name it, with its kind. Stored as its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub struct FaultName {
    text: String,
    kind: FaultKind,
    /// Program and arguments of a failover.
    argv: Vec<String>,
}

/// Faults of a run, and when they are caused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultPlan {
    /// The fault, or the file of the user's program.
    pub kind: FaultName,
    /// When it is caused, in seconds since the start of the measured window.
    pub at_s: f64,
    /// Time from the start of one fault to that of the next, in seconds, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
    /// Number of faults.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeat: u32,
}

fn once() -> u32 {
    1
}

fn is_once(repeat: &u32) -> bool {
    *repeat == 1
}

impl FaultKind {
    /// All kinds with a name.
    pub const NAMED: [Self; 6] =
        [Self::Kill, Self::Restart, Self::RestartImmediate, Self::CrashBackend, Self::Promote, Self::PowerLoss];

    /// Returns all kinds, in the order of a list.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::NAMED.into_iter().chain(FailoverKind::ALL.map(Self::Failover)).chain([Self::Program])
    }

    /// Returns the name, with what must be named after it; a program has none.
    #[must_use]
    pub fn name(self) -> String {
        let name = match self {
            Self::Failover(failover) => return failover.form(),
            Self::Kill => "kill-9",
            Self::Restart => "restart",
            Self::RestartImmediate => "restart-immediate",
            Self::CrashBackend => "crash-backend",
            Self::Promote => "promote",
            Self::PowerLoss => "power-loss",
            Self::Program => "FILE",
        };
        name.to_owned()
    }

    /// Returns what it does, as an imperative.
    #[must_use]
    pub fn what(self) -> String {
        let what = match self {
            Self::Failover(failover) => return format!("run `{}`", failover.shown()),
            Self::Kill => "kill the postmaster and all of its processes (SIGKILL), and start the server again",
            Self::Restart => "shut the server down in fast mode, and start it again",
            Self::RestartImmediate => "shut the server down in immediate mode, and start it again",
            Self::CrashBackend => "kill the backend of one client (SIGKILL): the server ends all sessions and recovers",
            Self::Promote => "kill the primary (SIGKILL), and promote its standby",
            Self::PowerLoss => "kill the server, undo all writes that were not synced, and start it again",
            Self::Program => "run a program of yours",
        };
        what.to_owned()
    }

    /// Returns what it needs.
    #[must_use]
    pub fn needs(self) -> &'static str {
        match self {
            Self::Failover(failover) => failover.needs(),
            Self::Kill | Self::Restart | Self::RestartImmediate | Self::CrashBackend => {
                "a server that the run starts: --target embedded"
            }
            Self::Promote => "a private primary with a standby: --target embedded:ha",
            Self::PowerLoss => "a server that the run starts, on Linux with a C compiler (cc)",
            Self::Program => "an executable file; any server",
        }
    }

    /// Returns true if pgdyno itself does it, to a server that it started.
    #[must_use]
    pub fn needs_private_server(self) -> bool {
        !self.runs_program()
    }

    /// Returns true if a program of the user, or of a cluster, is run.
    #[must_use]
    pub fn runs_program(self) -> bool {
        matches!(self, Self::Program | Self::Failover(_))
    }

    /// Returns true if it leaves a server to which it cannot be done again.
    #[must_use]
    pub fn is_final(self) -> bool {
        self == Self::Promote
    }
}

impl FaultName {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns program and arguments of a failover; empty for any other fault.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        self.kind
    }
}

impl FaultPlan {
    /// Returns when each fault is caused, in seconds since the start of the measured window.
    pub fn times(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.repeat).map(|nth| self.at_s + f64::from(nth) * self.every_s.unwrap_or_default())
    }

    /// Returns when the last one is caused, in seconds since the start of the measured window.
    #[must_use]
    pub fn last_s(&self) -> f64 {
        self.times().last().unwrap_or(self.at_s)
    }
}

impl FromStr for FaultName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(parsed) = FailoverKind::parse(text) {
            let (failover, argv) = parsed?;
            return Ok(Self { text: text.to_owned(), kind: FaultKind::Failover(failover), argv });
        }
        let named = FaultKind::NAMED.into_iter().find(|kind| kind.name() == text);
        // A file needs a sign of one: a misspelt name must not be taken for a program.
        let program = text.contains(['/', '.']).then_some(FaultKind::Program);
        let kind = named.or(program).ok_or_else(|| {
            let names: Vec<String> =
                FaultKind::all().filter(|kind| *kind != FaultKind::Program).map(FaultKind::name).collect();
            let names = names.join(", ");
            format!("'{text}' is no fault: write {names}, or the file of a program (./{text})")
        })?;
        Ok(Self { text: text.to_owned(), kind, argv: Vec::new() })
    }
}

impl TryFrom<String> for FaultName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<FaultName> for String {
    fn from(name: FaultName) -> Self {
        name.text
    }
}

impl fmt::Display for FaultName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_known_name_or_the_file_of_a_program() {
        for kind in FaultKind::NAMED {
            assert_eq!(kind.name().parse::<FaultName>().unwrap().kind(), kind);
        }
        let switchover: FaultName = "patroni:switchover".parse().unwrap();
        assert_eq!(switchover.argv(), ["patronictl", "switchover", "--force"]);
        assert!(!switchover.kind().needs_private_server() && !switchover.kind().is_final());
        for file in ["./failover.sh", "/usr/bin/failover", "failover.sh"] {
            assert_eq!(file.parse::<FaultName>().unwrap().kind(), FaultKind::Program);
        }
        let refused = "kill9".parse::<FaultName>().unwrap_err();
        assert!(refused.contains("kill-9, restart, ") && refused.contains("./kill9"), "{refused}");
    }

    #[test]
    fn several_faults_have_their_times() {
        let plan = FaultPlan { kind: "restart".parse().unwrap(), at_s: 20.0, every_s: Some(60.0), repeat: 3 };
        assert_eq!(plan.times().collect::<Vec<_>>(), [20.0, 80.0, 140.0]);
        assert_eq!(plan.last_s(), 140.0);
    }
}
