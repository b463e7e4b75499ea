//! A server that is ready to use, whatever its origin.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectError, ConnectOptions, Env};
use pgdyno_plan::{FaultKind, Plan, TargetOrder};
use pgdyno_results::{PlaceRecord, ServerRecord};
use pgdyno_server::{
    HeldServer, InstallationOrigin, Keeping, KeptData, Places, PrivateServer, PrivateServerOptions, Purpose,
    ServerIdentity, StartStep, Want, WantedData, connect_to, kept,
};
use pgdyno_workload::Workload;

use crate::environment;
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::interrupt::Interrupt;
use crate::record::figures;
use crate::target::cached;
use crate::target::pair::HeldPair;

/// The database of a private server that runs use.
pub(super) const PRIVATE_DATABASE: &str = "postgres";
/// Environment variable with the directory of the PostgreSQL that `embedded` stands for.
const DEFAULT_BUILD: &str = "PGDYNO_POSTGRES";
/// Connections of a run in addition to its clients: for probes, loading and checks.
const OWN_CONNECTIONS: u32 = 16;

/// What is said where tproc-h or tproc-ds runs on the kept private server.
const KEPT_FOR_TRANSACTIONS: &str = "the kept private server is sized for many clients, not for analysis: \
     `pgdyno server stop` makes room for one that is";

/// What a run needs of a private server.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// Connections of clients at the same time.
    pub clients: u32,
    /// Whether they run few queries that read much.
    pub is_analytic: bool,
    /// The data that they use, which an earlier server may have loaded.
    pub data: Option<WantedData>,
    /// Whether the server is to lose its power.
    pub loses_power: bool,
}

impl Demand {
    /// Returns the demand of a planned run of this order.
    #[must_use]
    pub fn of(plan: &Plan, workload: &Workload, order: &TargetOrder) -> Self {
        let data = cached::wanted(plan, &workload.data, order.cache_bytes);
        let loses_power = plan.fault.as_ref().is_some_and(|fault| fault.kind.kind() == FaultKind::PowerLoss);
        Self { clients: plan.links(), is_analytic: workload.drive.is_analytic, data, loses_power }
    }

    fn purpose(&self) -> Purpose {
        if self.is_analytic { Purpose::Analysis { queries: self.clients } } else { Purpose::Transactions }
    }
}

/// A server that is ready to use for as long as this value lives.
pub struct TargetServer {
    /// How to reach it; `None` without a server.
    options: Option<ConnectOptions>,
    /// Where it comes from, for the record.
    pub origin: String,
    /// What the user should know about it.
    pub notes: Vec<String>,
    /// The server that was announced, of those that the options may lead to.
    announced: Option<ServerIdentity>,
    hold: Hold,
}

/// What ends with the run.
enum Hold {
    Nothing,
    /// The kept private server; nothing ends.
    Kept(Box<PrivateServer>),
    Embedded {
        embedded: Box<HeldServer>,
        /// The settings that it was started with.
        settings: BTreeMap<String, String>,
    },
    Pair(Box<HeldPair>),
    Null {
        child: Child,
        stdin: Option<ChildStdin>,
        directory: tempfile::TempDir,
    },
}

/// The owner of a server, which decides what pgdyno may do to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A given server, or none.
    Given,
    /// The private server that is kept between runs.
    Kept,
    /// A private server of this process.
    Ours,
}

impl TargetServer {
    /// Returns how to reach it; `None` without a server.
    pub fn options(&self) -> Option<&ConnectOptions> {
        self.options.as_ref()
    }

    /// Returns how to reach the standby of a private pair; `None` for any other server.
    ///
    /// # Errors
    /// When its address cannot be a part of a connection string.
    pub fn standby(&self) -> Result<Option<ConnectOptions>> {
        match &self.hold {
            Hold::Pair(pair) => pair.reach_standby().map(Some),
            Hold::Nothing | Hold::Kept(_) | Hold::Embedded { .. } | Hold::Null { .. } => Ok(None),
        }
    }

    /// Lets the user end waits for it.
    pub fn interrupted_by(&mut self, interrupt: &Interrupt) {
        self.options = self.options.as_ref().map(|options| interrupt.options(options));
    }

    /// Returns the absence of a server.
    pub(super) fn none() -> Self {
        Self { options: None, origin: String::new(), notes: Vec::new(), announced: None, hold: Hold::Nothing }
    }

    /// Returns a given server.
    pub(super) fn given(options: ConnectOptions, origin: &str) -> Self {
        Self {
            options: Some(options),
            origin: origin.to_owned(),
            notes: Vec::new(),
            announced: None,
            hold: Hold::Nothing,
        }
    }

    /// Returns the kept private server, for single steps: the data of a temporary one would end with it.
    pub(super) fn kept(want: &Want) -> Result<Self> {
        running(&private_version(want)?)?.map(Self::of_kept).ok_or_else(|| {
            CommandError::new(
                Code::Start,
                "no target is given, and no private server is running that would keep the data",
            )
            .hint("give --target, or start a private server that stays: `pgdyno server start`")
        })
    }

    fn of_kept(server: PrivateServer) -> Self {
        Self {
            options: Some(server.connect_options(PRIVATE_DATABASE)),
            origin: format!("{} and kept, {}", ServerRecord::PRIVATE, origin(&server)),
            notes: Vec::new(),
            announced: None,
            hold: Hold::Kept(Box::new(server)),
        }
    }

    /// Returns the kept private server if it fits, otherwise starts one with these settings.
    pub(super) fn private(
        want: &Want,
        tcp: bool,
        settings: BTreeMap<String, String>,
        demand: Demand,
        events: &dyn EventSink,
    ) -> Result<Self> {
        let want = &private_version(want)?;
        match (running(want)?, running(&Want::Any)?) {
            // The password for its TCP connections is stored nowhere.
            (Some(server), _) if !tcp => {
                if demand.is_analytic {
                    events.note(KEPT_FOR_TRANSACTIONS);
                }
                return Ok(Self::of_kept(server));
            }
            (_, Some(_)) => events.note("the kept private server does not match: starting another one"),
            (_, None) => {}
        }
        Self::own(want, tcp, settings, demand, events)
    }

    /// Starts a private server of this process with these settings.
    pub(super) fn own(
        want: &Want,
        tcp: bool,
        settings: BTreeMap<String, String>,
        demand: Demand,
        events: &dyn EventSink,
    ) -> Result<Self> {
        let options = options_for(demand, tcp, &settings)?;
        let embedded = HeldServer::start(want, &options, &mut starting(events)).or_fail(Code::Server)?;
        Ok(Self {
            options: Some(reach(&embedded)?),
            origin: format!("{}, {}", ServerRecord::PRIVATE, origin(embedded.server())),
            notes: embedded.warnings().iter().map(ToString::to_string).collect(),
            announced: None,
            hold: Hold::Embedded { embedded: Box::new(embedded), settings },
        })
    }

    /// Starts a private primary and a standby with these settings. Clients connect to the one that may be written to.
    pub(super) fn pair(
        is_synchronous: bool,
        tcp: bool,
        settings: BTreeMap<String, String>,
        demand: Demand,
        events: &dyn EventSink,
    ) -> Result<Self> {
        let options = PrivateServerOptions { is_paired: true, ..options_for(demand, tcp, &settings)? };
        let want = private_version(&Want::Any)?;
        let primary = HeldServer::start(&want, &options, &mut starting(events)).or_fail(Code::Server)?;
        events.note("starting a standby on a copy of its data");
        let pair = HeldPair::of(primary, &options, PRIVATE_DATABASE, is_synchronous)?;
        let how = if is_synchronous { "synchronous" } else { "asynchronous" };
        Ok(Self {
            options: Some(pair.reach()?),
            origin: format!("{} with {how} standby, {}", ServerRecord::PRIVATE, origin(pair.current().server())),
            notes: pair.current().warnings().iter().map(ToString::to_string).collect(),
            announced: None,
            hold: Hold::Pair(Box::new(pair)),
        })
    }

    /// Starts a null server.
    pub(super) fn null() -> Result<Self> {
        let directory = pgdyno_server::socket_tempdir("pgdyno-null-").or_fail(Code::Server)?;
        let mut child = Command::new(own_program()?)
            .args(["server", "null", "--until-eof", "--socket-dir"])
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // Ctrl-C on a terminal is for the run, which still needs the null server.
            .process_group(0)
            .spawn()
            .or_fail(Code::Server)?;
        let stdin = child.stdin.take();
        let options = ConnectOptions::for_socket(directory.path(), 5432, "null", "null");
        let hold = Hold::Null { child, stdin, directory };
        let server =
            Self { options: Some(options), origin: "null".to_owned(), notes: Vec::new(), announced: None, hold };
        let patience = Instant::now() + Duration::from_secs(10);
        loop {
            match server.admin() {
                Ok(_) => return Ok(server),
                Err(failure) if Instant::now() > patience => return Err(failure),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Opens a connection for statements that are not measured, to the server that was announced if that can be reached.
    pub(crate) fn admin(&self) -> Result<Option<Admin>> {
        self.options.as_ref().map(|options| self.connect(options)).transpose().or_fail(Code::Start)
    }

    /// Opens a connection by these options, to the server that was announced if that can be reached.
    pub(crate) fn connect(&self, options: &ConnectOptions) -> std::result::Result<Admin, ConnectError> {
        connect_to(options, self.announced.as_ref())
    }

    /// Reports the database and the server before anything is done there.
    ///
    /// # Errors
    /// When the server accepts the connection and does not answer.
    pub fn announce(&mut self, events: &dyn EventSink) -> Result<()> {
        let options = self.options.clone();
        options.map_or(Ok(()), |options| self.announce_by(&options, events).map(drop))
    }

    /// Does the same over a connection by these options. Returns it; `None` on the null server, and where the server cannot be
    /// reached: the next step that needs it reports why.
    ///
    /// # Errors
    /// As [`TargetServer::announce`].
    pub(crate) fn announce_by(&mut self, options: &ConnectOptions, events: &dyn EventSink) -> Result<Option<Admin>> {
        if matches!(self.hold, Hold::Null { .. }) {
            return Ok(None);
        }
        let Ok(mut admin) = Admin::connect(options) else {
            events.note(&format!("target: {options} ({})", self.origin));
            return Ok(None);
        };
        if self.owner() == Owner::Given {
            self.announced = ServerIdentity::of(&mut admin).or_fail(Code::Start)?;
        }
        events.note(&format!("target: {}", named(&mut admin, options, &self.origin)?));
        Ok(Some(admin))
    }

    /// Returns true if it is a private server of this process.
    pub fn is_own(&self) -> bool {
        self.owner() == Owner::Ours
    }

    /// Returns the owner.
    pub(crate) fn owner(&self) -> Owner {
        match &self.hold {
            Hold::Nothing | Hold::Null { .. } => Owner::Given,
            Hold::Kept(_) => Owner::Kept,
            Hold::Embedded { .. } | Hold::Pair(_) => Owner::Ours,
        }
    }

    /// Returns the settings of a private server of this process that differ from those that fit the machine.
    pub(crate) fn settings_given(&self) -> Option<BTreeMap<String, String>> {
        match &self.hold {
            Hold::Embedded { settings, .. } => Some(settings.clone()),
            Hold::Nothing | Hold::Kept(_) | Hold::Pair(_) | Hold::Null { .. } => None,
        }
    }

    /// Returns the data directory of a private server.
    pub fn data_dir(&self) -> Option<&Path> {
        match &self.hold {
            Hold::Nothing | Hold::Null { .. } => None,
            Hold::Kept(server) => Some(server.data_dir()),
            Hold::Embedded { embedded, .. } => Some(embedded.server().data_dir()),
            Hold::Pair(pair) => Some(pair.current().server().data_dir()),
        }
    }

    /// Shuts a private server down and starts it again on its data, at the same address. A server of this process has
    /// exactly these settings from then on; the kept one has its own, and those of ALTER SYSTEM.
    pub(crate) fn restart(&mut self, settings: &BTreeMap<String, String>) -> Result<()> {
        match &mut self.hold {
            Hold::Nothing | Hold::Null { .. } => {
                Err(CommandError::new(Code::Server, "pgdyno restarts only servers that it started itself"))
            }
            Hold::Pair(_) => {
                Err(CommandError::new(Code::Server, "a primary with a standby is not restarted before its run"))
            }
            Hold::Kept(server) => {
                **server = kept::restart(&places()?).or_fail(Code::Server)?;
                Ok(())
            }
            Hold::Embedded { embedded, settings: given } => {
                let list: Vec<_> = settings.iter().map(|(n, v)| (n.clone(), v.clone())).collect();
                embedded.restart(&list).or_fail(Code::Server)?;
                given.clone_from(settings);
                self.options = Some(reach(embedded)?);
                Ok(())
            }
        }
    }

    /// Prepares for a fault when the clients begin: what was written before counts as synced, as a kernel does that within half a
    /// minute.
    ///
    /// # Errors
    /// When the server has no journal of its writes.
    pub(crate) fn prepare_fault(&mut self, kind: FaultKind) -> Result<()> {
        match &mut self.hold {
            Hold::Embedded { embedded, .. } if kind == FaultKind::PowerLoss => {
                embedded.mark_synced().or_fail(Code::Server)
            }
            Hold::Pair(pair) if kind == FaultKind::PowerLoss => pair.current_mut().mark_synced().or_fail(Code::Server),
            _ => Ok(()),
        }
    }

    /// Causes a fault. `backend` is the process of a client's session. Returns when the server accepts connections again, except after
    /// a backend was killed.
    ///
    /// # Errors
    /// When it is not a private server of this process, or does not start again.
    pub(crate) fn cause(&mut self, kind: FaultKind, backend: Option<i32>) -> Result<()> {
        let embedded = match &mut self.hold {
            Hold::Pair(pair) if kind == FaultKind::Promote => return pair.promote(),
            Hold::Pair(pair) => pair.current_mut(),
            Hold::Embedded { embedded, .. } => embedded,
            Hold::Nothing | Hold::Kept(_) | Hold::Null { .. } => {
                return Err(CommandError::new(Code::Server, "pgdyno does this only to servers that it started itself"));
            }
        };
        match kind {
            FaultKind::Kill => embedded.crash().or_fail(Code::Server),
            FaultKind::Restart => embedded.restart_as_is(false).or_fail(Code::Server),
            FaultKind::RestartImmediate => embedded.restart_as_is(true).or_fail(Code::Server),
            FaultKind::CrashBackend => match backend.is_some_and(|pid| embedded.kill_backend(pid)) {
                true => Ok(()),
                false => Err(CommandError::new(Code::Server, "no client has a backend on the server")),
            },
            FaultKind::PowerLoss => embedded.lose_power().or_fail(Code::Server),
            FaultKind::Promote
            | FaultKind::NetworkDrop
            | FaultKind::PatroniKill
            | FaultKind::Failover(_)
            | FaultKind::Program => {
                Err(CommandError::new(Code::Server, format!("{} is not possible on this server", kind.name())))
            }
        }
    }

    /// Replaces the data of another private server of this process by a copy of this one's. Returns false if that cannot be,
    /// for one of them is none, or they are of different builds: nothing is done then.
    ///
    /// # Errors
    /// When the data cannot be copied, or a server does not start again.
    pub fn copy_data_to(&mut self, other: &mut Self) -> Result<bool> {
        let (Hold::Embedded { embedded: one, .. }, Hold::Embedded { embedded: another, .. }) =
            (&mut self.hold, &mut other.hold)
        else {
            return Ok(false);
        };
        if one.server().installation() != another.server().installation() {
            return Ok(false);
        }
        one.copy_data_to(another).or_fail(Code::Server)?;
        Ok(true)
    }

    /// Returns the kept data that a private server of this process began with a copy of.
    pub(crate) fn cached(&self) -> Option<&KeptData> {
        match &self.hold {
            Hold::Embedded { embedded, .. } => embedded.cached(),
            Hold::Nothing | Hold::Kept(_) | Hold::Pair(_) | Hold::Null { .. } => None,
        }
    }

    /// Returns true if it is a private server of this process whose data may be kept.
    pub(crate) fn can_keep_data(&self) -> bool {
        matches!(&self.hold, Hold::Embedded { embedded, .. } if embedded.can_keep_data())
    }

    /// Keeps a copy of the data of a private server of this process for later ones: it is shut down and started again at its
    /// address. Returns whether it was kept; `None` for another server.
    ///
    /// # Errors
    /// When the server does not start again.
    pub(crate) fn keep_data(&mut self) -> Result<Option<Keeping>> {
        match &mut self.hold {
            Hold::Embedded { embedded, .. } => embedded.keep_data().map(Some).or_fail(Code::Server),
            Hold::Nothing | Hold::Kept(_) | Hold::Pair(_) | Hold::Null { .. } => Ok(None),
        }
    }

    /// Returns why the private server has ended, if it has.
    pub fn death(&mut self) -> Option<String> {
        match &mut self.hold {
            Hold::Embedded { embedded, .. } => embedded.check().err().map(|error| error.to_string()),
            Hold::Pair(pair) => pair.current_mut().check().err().map(|error| error.to_string()),
            Hold::Nothing | Hold::Kept(_) | Hold::Null { .. } => None,
        }
    }
}

impl Drop for TargetServer {
    fn drop(&mut self) {
        if let Hold::Null { child, stdin, directory } = &mut self.hold {
            // The null server ends when its input ends; its directory is removed with `directory`.
            drop(stdin.take());
            let _ = child.wait();
            let _ = directory.path();
        }
    }
}

/// Describes the server that `admin` is connected to by `options`: `PostgreSQL 15.14 (given), database bench, user ann,
/// host db1, port 5432`.
///
/// # Errors
/// When the connection is lost, or the server does not answer.
pub fn named(admin: &mut Admin, options: &ConnectOptions, origin: &str) -> Result<String> {
    let version = admin.parameters().get("server_version").and_then(|version| version.split(' ').next());
    // A pooler, or a server other than PostgreSQL, may not answer this.
    let version = version.map_or_else(|| "a server".to_owned(), |version| format!("PostgreSQL {version}"));
    let standby = pgdyno_server::is_standby(admin).or_fail(Code::Start)?.unwrap_or_default();
    let place = PlaceRecord { standby, ..figures::place(admin, options) };
    Ok(format!("{version} ({origin}), {place}"))
}

/// Returns the kept private server if it runs and has the wanted version.
fn running(want: &Want) -> Result<Option<PrivateServer>> {
    Ok(match kept::status(&places()?).or_fail(Code::Server)? {
        kept::KeptServerStatus::Running(server) if want.is(server.installation()) => Some(server),
        _ => None,
    })
}

/// Returns the wanted version where only a private server is possible: the one that `PGDYNO_POSTGRES` names, if it is
/// set.
pub fn private_version(want: &Want) -> Result<Want> {
    match environment::variable(DEFAULT_BUILD) {
        Some(dir) if *want == Want::Any => super::absolute(Want::Directory(dir.into()), Path::new("")),
        _ => Ok(want.clone()),
    }
}

/// Returns the options of a private server for this demand.
fn options_for(demand: Demand, tcp: bool, settings: &BTreeMap<String, String>) -> Result<PrivateServerOptions> {
    let (purpose, connections) = (demand.purpose(), demand.clients.saturating_add(OWN_CONNECTIONS));
    let list = settings.clone().into_iter().collect();
    let usual = embedded_options(connections, tcp, list)?;
    Ok(PrivateServerOptions { purpose, data: demand.data, journals_writes: demand.loses_power, ..usual })
}

/// Returns how to connect to a private server of this process.
fn reach(embedded: &HeldServer) -> Result<ConnectOptions> {
    let server = embedded.server();
    match (server.tcp_dsn(PRIVATE_DATABASE), embedded.password()) {
        (Some(dsn), Some(password)) => {
            let env = Env::new([("PGPASSWORD", password.reveal().as_str())], None, None);
            ConnectOptions::resolve(&dsn, &env).or_fail(Code::Server)
        }
        _ => Ok(server.connect_options(PRIVATE_DATABASE)),
    }
}

/// Returns the directory of private servers.
pub fn places() -> Result<Places> {
    Places::of_user(environment::variable).or_fail(Code::Server)
}

/// Returns the options of a private server of this program.
pub fn embedded_options(connections: u32, tcp: bool, settings: Vec<(String, String)>) -> Result<PrivateServerOptions> {
    let mut options = PrivateServerOptions::new(own_program()?, places()?);
    options.path = environment::variable("PATH");
    options.connections = connections;
    options.tcp = tcp;
    options.settings = settings;
    Ok(options)
}

/// Returns the path of this program, also while its file is being replaced.
pub fn own_program() -> Result<PathBuf> {
    let linux = PathBuf::from("/proc/self/exe");
    if linux.exists() { Ok(linux) } else { std::env::current_exe().or_fail(Code::Start) }
}

/// Reports the steps of a start.
pub fn starting(events: &dyn EventSink) -> impl FnMut(StartStep) + '_ {
    |step| match step {
        StartStep::Fetching { major } => {
            events.note(&format!("fetching the portable PostgreSQL {major} (once, about 15 MB)"));
        }
        StartStep::Copying => events.note("copying the data that an earlier run has loaded"),
        StartStep::Initialising { version } => events.note(&format!("creating a private PostgreSQL {}", version.text)),
        StartStep::Starting { version } => events.detail(&format!("starting a private PostgreSQL {}", version.text)),
    }
}

/// How a private server's programs were found.
pub fn origin(server: &PrivateServer) -> String {
    let installation = server.installation();
    match installation.origin {
        InstallationOrigin::Portable => "portable".to_owned(),
        _ => format!("from {}", installation.bindir.display()),
    }
}
