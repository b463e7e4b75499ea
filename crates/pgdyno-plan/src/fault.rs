//! Faults that a run causes while its clients drive. No other file knows the texts that name them.

mod failover;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use failover::FailoverKind;
use failover::is_identifier;
use pgdyno_text::parse::duration;

/// The longest time for which packets may be dropped, in seconds.
const DROP_S_MAX: f64 = 3600.0;

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
    /// Packets between this machine and the server are dropped for a time.
    NetworkDrop,
    /// Patroni and the server of a member on this machine are killed (SIGKILL), and stay down.
    PatroniKill,
    /// A failover that a program of a cluster manager or of a cloud orders.
    Failover(FailoverKind),
    /// A program of the user.
    Program,
}

/// A fault as orders, plans and records name it, with its kind. Stored as its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String", inline))]
pub struct FaultName {
    text: String,
    kind: FaultKind,
    /// What it is done with.
    details: FaultDetails,
}

/// What is named after the kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FaultDetails {
    Nothing,
    /// Program and arguments of a failover.
    Argv(Vec<String>),
    /// A member of a cluster.
    Member(String),
    /// For how long it lasts.
    Lasts(Duration),
}

/// Faults of a run, and when they are caused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// All kinds whose name is a word.
    pub const NAMED: [Self; 6] =
        [Self::Kill, Self::Restart, Self::RestartImmediate, Self::CrashBackend, Self::Promote, Self::PowerLoss];

    /// Returns all kinds, in the order of a list.
    pub fn all() -> impl Iterator<Item = Self> {
        let with_details = [Self::NetworkDrop, Self::PatroniKill];
        Self::NAMED.into_iter().chain(with_details).chain(FailoverKind::ALL.map(Self::Failover)).chain([Self::Program])
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
            Self::NetworkDrop => "network-drop:TIME",
            Self::PatroniKill => "patroni:kill:MEMBER",
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
            Self::NetworkDrop => "drop all packets between this machine and the server's address and port for a time",
            Self::PatroniKill => "kill Patroni and the server of a member (SIGKILL): both stay down",
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
            Self::NetworkDrop => {
                "nft (nftables) and the right to use it (root or CAP_NET_ADMIN); a server that is reached by TCP"
            }
            Self::PatroniKill => "the member on this machine, which is Linux; its account, or root",
            Self::Program => "an executable file; any server",
        }
    }

    /// Returns true if pgdyno itself does it, to a server that it started.
    #[must_use]
    pub fn needs_private_server(self) -> bool {
        Self::NAMED.contains(&self)
    }

    /// Returns true if it leaves a server to which it cannot be done again.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Promote | Self::PatroniKill)
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
        match &self.details {
            FaultDetails::Argv(argv) => argv,
            FaultDetails::Nothing | FaultDetails::Member(_) | FaultDetails::Lasts(_) => &[],
        }
    }

    /// Returns the member of a cluster that it is done to, if it names one.
    #[must_use]
    pub fn member(&self) -> Option<&str> {
        match &self.details {
            FaultDetails::Member(member) => Some(member),
            FaultDetails::Nothing | FaultDetails::Argv(_) | FaultDetails::Lasts(_) => None,
        }
    }

    /// Returns for how long it lasts, if it names a time.
    #[must_use]
    pub fn lasts(&self) -> Option<Duration> {
        match &self.details {
            FaultDetails::Lasts(time) => Some(*time),
            FaultDetails::Nothing | FaultDetails::Argv(_) | FaultDetails::Member(_) => None,
        }
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
            let (kind, details) = (FaultKind::Failover(failover), FaultDetails::Argv(argv));
            return Ok(Self { text: text.to_owned(), kind, details });
        }
        if let Some(parsed) = with_details(text) {
            let (kind, details) = parsed?;
            return Ok(Self { text: text.to_owned(), kind, details });
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
        Ok(Self { text: text.to_owned(), kind, details: FaultDetails::Nothing })
    }
}

/// Returns a fault that needs a member or a time after its name; `None` if the text names none of these.
fn with_details(text: &str) -> Option<Result<(FaultKind, FaultDetails), String>> {
    let after = |name: &str| {
        text.strip_prefix(name)
            .filter(|rest| rest.is_empty() || rest.starts_with(':'))
            .map(|rest| rest.trim_start_matches(':'))
    };
    if let Some(member) = after("patroni:kill") {
        let kind = FaultKind::PatroniKill;
        let wrong = || format!("'{text}' is no fault: name the member, as in {}", kind.name());
        return Some(is_identifier(member).then(|| (kind, FaultDetails::Member(member.to_owned()))).ok_or_else(wrong));
    }
    let kind = FaultKind::NetworkDrop;
    let wrong = |why: &str| format!("'{text}' is no fault: {why}, as in network-drop:10s");
    Some(match after("network-drop")? {
        "" => Err(wrong("say for how long packets are dropped")),
        time => match duration(time) {
            Ok(time_s) if time_s > 0.0 && time_s <= DROP_S_MAX => {
                Ok((kind, FaultDetails::Lasts(Duration::from_secs_f64(time_s))))
            }
            Ok(_) => Err(wrong("packets are dropped for more than 0 s, and for an hour at most")),
            Err(why) => Err(wrong(&why)),
        },
    })
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
        let killed: FaultName = "patroni:kill:node-1".parse().unwrap();
        assert_eq!((killed.kind(), killed.member()), (FaultKind::PatroniKill, Some("node-1")));
        let dropped: FaultName = "network-drop:1500ms".parse().unwrap();
        assert_eq!((dropped.kind(), dropped.lasts()), (FaultKind::NetworkDrop, Some(Duration::from_millis(1500))));
        assert!(!killed.kind().needs_private_server() && killed.kind().is_final() && !dropped.kind().is_final());
        for (text, words) in [
            ("patroni:kill", "name the member, as in patroni:kill:MEMBER"),
            ("patroni:kill:a/b", "name the member"),
            ("network-drop", "say for how long packets are dropped, as in network-drop:10s"),
            ("network-drop:0s", "more than 0 s"),
            ("network-drop:2h", "an hour at most"),
            ("network-drop:soon", "unknown unit 'soon'"),
        ] {
            let refused = text.parse::<FaultName>().unwrap_err();
            assert!(refused.contains(words), "{text}: {refused}");
        }
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
