//! The server under test: found from the order, `pgdyno.toml` and the environment, started, and ended.

pub(crate) mod analytics;
pub mod cached;
pub(crate) mod cluster;
pub mod lock;
mod named;
mod pair;
pub mod reach;
pub(crate) mod readers;
pub mod room;
mod server;
pub(crate) mod server_state;
mod want;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pgdyno_net::{ConnectOptions, Env};
use pgdyno_plan::{TargetBuild, TargetFacts, TargetKind, TargetName, TargetOrder};
use pgdyno_server::os::OsMetrics;
use pgdyno_server::{Account, Want, in_directory};

pub use named::Named;
use pgdyno_untrusted::TerminalText;
pub(crate) use server::Owner;
pub use server::{
    Demand, TargetServer, embedded_options, named, origin, own_program, places, private_version, starting,
};
pub use want::{WantError, wanted};

use crate::environment;
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// How long to wait for a host that does not answer, unless the connection string says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The origin of a private server whose socket a suite has given to its run.
const HELD_BY_SUITE: &str = "private, held by the suite";

/// The target of an order, and what is known about it.
#[derive(Debug)]
pub struct Target {
    /// How a run gets to its server.
    pub access: Access,
    /// Its entry in `pgdyno.toml`, if it has a name there.
    pub(crate) named: Option<Named>,
    /// Settings of all runs on it.
    pub settings: BTreeMap<String, String>,
    /// The name in plans and records instead of its address.
    shown_as: Option<TargetName>,
}

/// How a run gets to a server.
#[derive(Debug)]
pub enum Access {
    /// Not at all: the workload measures pgdyno itself.
    None,
    /// It starts a null server.
    Null,
    /// It starts a private server, or uses the kept one.
    Private(Want),
    /// It starts a private primary and a standby that streams from it.
    Pair {
        /// Whether commits wait for the standby.
        is_synchronous: bool,
    },
    /// It connects to a server that is there.
    Given(Box<ConnectOptions>),
}

impl Access {
    /// Returns the access to what an order or `pgdyno.toml` names, except names. Relative directories start at `base`.
    pub(crate) fn of(target: &TargetName, base: &Path) -> Result<Self> {
        match target.kind() {
            TargetKind::Null => Ok(Self::Null),
            TargetKind::Private(TargetBuild::Pair { is_synchronous }) => {
                Ok(Self::Pair { is_synchronous: *is_synchronous })
            }
            TargetKind::Private(_) => Ok(Self::Private(absolute(wanted(target).or_fail(Code::Start)?, base)?)),
            // A word that is no name in the file may be a misspelt connection string.
            TargetKind::None | TargetKind::Named | TargetKind::Given => given(target.as_str(), &Env::from_process()),
        }
    }
}

impl Target {
    /// Returns the target without a server.
    pub(crate) fn none() -> Self {
        Self::of(Access::None)
    }

    /// Returns a target without a name or settings.
    pub(crate) fn of(access: Access) -> Self {
        Self { access, named: None, settings: BTreeMap::new(), shown_as: None }
    }

    /// Reads the order, `pgdyno.toml` if it names a target of it, and without a target the environment. Connects to no
    /// server.
    pub fn resolve(order: &TargetOrder) -> Result<Self> {
        let env = Env::from_process();
        let named = Named::find(order)?;
        // A target that is only shown by a name is at the address in the order.
        let by_name = named.as_ref().filter(|_| order.shown_as.is_none());
        let in_file = by_name.map(|named| TargetName::from(named.entry.dsn.as_str()));
        let access = match in_file.as_ref().or(order.target.as_ref()) {
            Some(target) => {
                // Directories in the file are relative to it.
                let base = by_name.and_then(|_| order.config().parent()).unwrap_or(Path::new(""));
                Access::of(target, base).map_err(|failure| named::explain(failure, order))?
            }
            None if ConnectOptions::names_a_server(&env) => given("", &env)?,
            None => Access::Private(Want::Any),
        };
        if let Access::Private(Want::Directory(dir)) = &access {
            // Reported now: a suite may reach this target hours later.
            let account = Account::for_server().or_fail(Code::Server)?;
            in_directory(dir, account.as_ref()).or_fail(Code::Start)?;
        }
        if order.tcp && !matches!(access, Access::Private(_) | Access::Pair { .. }) {
            let error = "--tcp is for the private server, and this run has another target";
            return Err(CommandError::new(Code::Start, error));
        }
        if matches!(access, Access::Null) && !order.settings.is_empty() {
            let error = "--set is for PostgreSQL, a private server or a given one: a null server has no settings";
            return Err(CommandError::new(Code::Start, error));
        }
        let settings = named.iter().flat_map(|named| named.entry.settings.iter().map(|(n, v)| (n.as_str(), v)));
        let settings = settings.chain(order.settings.iter().map(|(n, v)| (n.as_str(), v)));
        let settings: BTreeMap<_, _> =
            settings.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        if let Some((name, _)) = settings.iter().find(|(_, value)| value.to_ascii_lowercase().contains("password=")) {
            let error = format!("setting {name} holds a password, and plans and records would contain it");
            return Err(CommandError::new(Code::Start, error).hint("set it on the server by other means"));
        }
        Ok(Self { access, named, settings, shown_as: order.shown_as.clone() })
    }

    /// Returns the target as plans and records name it: its name, or its address without a password.
    pub fn name(&self) -> TargetName {
        match (&self.shown_as, &self.named) {
            (Some(name), _) => name.clone(),
            (None, Some(named)) => named.name.as_str().into(),
            (None, None) => self.dsn(),
        }
    }

    /// Returns its address, without a password.
    fn dsn(&self) -> TargetName {
        match &self.access {
            Access::None => TargetName::none(),
            Access::Null => TargetName::null(),
            Access::Private(want) => want::named(want),
            Access::Pair { is_synchronous } => TargetName::private_pair(*is_synchronous),
            Access::Given(options) => options.to_string().into(),
        }
    }

    /// Returns true if it is a private server of a suite, which ends with the suite.
    fn is_held(&self) -> bool {
        let named = self.named.as_ref().map(|named| TargetName::from(named.entry.dsn.as_str()));
        let is_private = |name: &TargetName| named.as_ref().unwrap_or(name).kind().is_private();
        self.shown_as.as_ref().is_some_and(is_private) && self.given().is_some()
    }

    /// Returns true if it is a null server.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self.access, Access::Null)
    }

    /// Returns true if its server is a PostgreSQL.
    pub(crate) fn is_postgres(&self) -> bool {
        match self.access {
            Access::Private(_) | Access::Pair { .. } | Access::Given(_) => true,
            Access::None | Access::Null => false,
        }
    }

    /// Returns true if it is a private primary with a standby.
    pub(crate) fn is_pair(&self) -> bool {
        match self.access {
            Access::Pair { .. } => true,
            Access::None | Access::Null | Access::Private(_) | Access::Given(_) => false,
        }
    }

    /// Returns true if it is a private server.
    pub fn is_private(&self) -> bool {
        match self.access {
            Access::Private(_) | Access::Pair { .. } => true,
            Access::None | Access::Null | Access::Given(_) => false,
        }
    }

    /// Returns what is known without a connection.
    pub fn facts(&self) -> TargetFacts {
        let entry = self.named.as_ref().map(|named| &named.entry);
        let os = entry.and_then(|entry| entry.os_metrics.as_ref());
        let database = match &self.access {
            Access::Given(options) => options.dbname().to_owned(),
            Access::None | Access::Null | Access::Private(_) | Access::Pair { .. } => {
                server::PRIVATE_DATABASE.to_owned()
            }
        };
        let name = self.name();
        let dsn = Some(self.dsn()).filter(|dsn| *dsn != name && !self.is_held());
        TargetFacts {
            name,
            dsn,
            is_local: self.is_local(),
            settings: self.settings.clone(),
            database,
            os: os.map(|how| OsMetrics::parse(how, None).name()),
        }
    }

    /// Refuses a target that agents on other machines cannot reach.
    pub(crate) fn admit_agents(&self) -> Result<()> {
        match self.access {
            Access::Private(_) | Access::Pair { .. } => {
                let error = "agents cannot reach a private server, which is this machine's own";
                Err(CommandError::new(Code::Start, error).hint("name a server that all machines reach by --target"))
            }
            Access::None | Access::Null | Access::Given(_) => Ok(()),
        }
    }

    /// Returns how to connect to a given server.
    pub fn given(&self) -> Option<&ConnectOptions> {
        match &self.access {
            Access::Given(options) => Some(options),
            Access::None | Access::Null | Access::Private(_) | Access::Pair { .. } => None,
        }
    }

    /// Returns true if client and server share the machine.
    pub fn is_local(&self) -> bool {
        match &self.access {
            Access::None | Access::Null | Access::Private(_) | Access::Pair { .. } => true,
            Access::Given(options) => options.is_local(),
        }
    }

    /// Returns the same target at the address that its provision hook printed.
    pub(crate) fn provisioned(self, dsn: &str) -> Result<Self> {
        Ok(Self { access: given(dsn, &Env::from_process())?, ..self })
    }

    /// Starts or connects to the server for a single step of the life cycle.
    pub fn reach(self, order: &TargetOrder) -> Result<TargetServer> {
        if !order.settings.is_empty() {
            let error = "--set is for runs: a single step leaves the server's settings as they are";
            return Err(CommandError::new(Code::Start, error));
        }
        match self.access {
            Access::Private(want) => TargetServer::kept(&want),
            Access::Pair { .. } => Err(CommandError::new(
                Code::Start,
                "a private primary and its standby end with their run, and keep no data",
            )),
            Access::None | Access::Null => Err(CommandError::new(Code::Start, "a null server keeps no data")),
            Access::Given(options) => Ok(TargetServer::given(*options, "given")),
        }
    }

    /// Starts or connects to the server. A private server is sized for the demand, and started with the target's
    /// settings.
    pub fn bring_up(self, order: &TargetOrder, demand: Demand, events: &dyn EventSink) -> Result<TargetServer> {
        let origin = if self.is_held() { HELD_BY_SUITE } else { "given" };
        match self.access {
            Access::None => Ok(TargetServer::none()),
            Access::Null => TargetServer::null(),
            Access::Given(options) => Ok(TargetServer::given(*options, origin)),
            Access::Private(want) => TargetServer::private(&want, order.tcp, self.settings, demand, events),
            Access::Pair { is_synchronous } => {
                TargetServer::pair(is_synchronous, order.tcp, self.settings, demand, events)
            }
        }
    }

    /// Does the same for a process that holds the server for several runs: with settings, a private server is a new one, because the
    /// kept one has the settings that it has.
    pub fn hold(self, order: &TargetOrder, demand: Demand, events: &dyn EventSink) -> Result<TargetServer> {
        match self.settings.is_empty() {
            true => self.bring_up(order, demand, events),
            false => self.bring_up_own(order, demand, events),
        }
    }

    /// Starts or connects to the server, but a private server is a new one of this process, never the kept one: its settings are given at its start,
    /// and it can be restarted with others.
    pub fn bring_up_own(self, order: &TargetOrder, demand: Demand, events: &dyn EventSink) -> Result<TargetServer> {
        match self.access {
            Access::Private(want) => {
                TargetServer::own(&private_version(&want)?, order.tcp, self.settings, demand, events)
            }
            Access::None | Access::Null | Access::Pair { .. } | Access::Given(_) => {
                self.bring_up(order, demand, events)
            }
        }
    }
}

/// Returns a directory as an absolute path; `base` may be relative to the working directory.
pub fn absolute(want: Want, base: &Path) -> Result<Want> {
    let home = environment::variable("HOME").map(PathBuf::from);
    let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let base = std::path::absolute(base).or_fail(Code::Start)?;
    want::absolute(want, &base, home.as_deref()).or_fail(Code::Start)
}

/// Reports what libpq would warn about, each once, however often a command reads its target.
#[expect(clippy::disallowed_methods, reason = "a command reads its target before it has a sink for events")]
fn print_warnings(warnings: &[String]) {
    static SHOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    for warning in warnings {
        if shown.insert(warning.clone()) {
            // If nobody reads standard error, there is nobody to warn.
            let _ = writeln!(std::io::stderr(), "WARNING: {}", TerminalText(warning));
        }
    }
}

fn given(dsn: &str, env: &Env) -> Result<Access> {
    let options = ConnectOptions::resolve(dsn, env).or_fail(Code::Start)?;
    print_warnings(options.warnings());
    Ok(Access::Given(Box::new(options.with_default_connect_timeout(CONNECT_TIMEOUT))))
}
