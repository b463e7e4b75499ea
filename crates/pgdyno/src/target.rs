//! The server under test: found out from the arguments and the environment, brought up, and gone again.

use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions, Env};
use pgdyno_server::{Embedded, EmbeddedOptions, Origin, Places, PrivateServer, Progress as Start, Want, kept};

use crate::cli::TargetArgs;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::progress::Progress;

/// The database of a private server that is used.
const PRIVATE_DATABASE: &str = "postgres";
/// Connections of a run beside its clients: for probes, loading and checks.
const OWN_CONNECTIONS: u32 = 16;
/// A host that does not answer for so long is given up, unless the connection string says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Which server is meant.
#[derive(Debug)]
pub(crate) enum Target {
    /// None: the workload measures pgdyno itself.
    None,
    /// A null server.
    Null,
    /// A private one.
    Embedded(Want),
    /// One that is there.
    Given(Box<ConnectOptions>),
}

impl Target {
    /// Reads the arguments, and without a target the environment. Touches no server.
    pub(crate) fn resolve(args: &TargetArgs) -> Result<Self> {
        let env = Env::from_process();
        let given = |dsn: &str| {
            let options = ConnectOptions::resolve(dsn, &env).or_fail(Code::Start)?;
            Ok(Self::Given(Box::new(options.with_default_connect_timeout(CONNECT_TIMEOUT))))
        };
        let target = match args.target.as_deref() {
            Some("null") => Self::Null,
            Some(word) if word == "embedded" || word.starts_with("embedded:") => {
                Self::Embedded(word.parse().or_fail(Code::Start)?)
            }
            Some(dsn) => given(dsn)?,
            None if ConnectOptions::names_a_server(&env) => given("")?,
            None => Self::Embedded(Want::Any),
        };
        if !matches!(target, Self::Embedded(_)) && (args.tcp || !args.settings.is_empty()) {
            let error = "--set and --tcp are for the private server, and this run has another target";
            return Err(Failure::new(Code::Start, error));
        }
        Ok(target)
    }

    /// The target as plans and records have it: without a password.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Embedded(Want::Any) => "embedded".to_owned(),
            Self::Embedded(Want::Major(major)) => format!("embedded:{major}"),
            Self::Given(options) => options.to_string(),
        }
    }

    /// The database that copies are made of: the one with this name, or else its own.
    pub(crate) fn template(&self, name: &str) -> String {
        match self {
            _ if !name.is_empty() => name.to_owned(),
            Self::Given(options) => options.dbname().to_owned(),
            Self::None | Self::Null | Self::Embedded(_) => PRIVATE_DATABASE.to_owned(),
        }
    }

    /// Whether client and server share the machine.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::None | Self::Null | Self::Embedded(_) => true,
            Self::Given(options) => options.is_local(),
        }
    }

    /// Reaches it for a single step of the life cycle.
    pub(crate) fn reach(self) -> Result<Server> {
        match self {
            Self::Embedded(want) => kept_server(want),
            Self::None | Self::Null => Err(Failure::new(Code::Start, "a null server keeps no data")),
            Self::Given(options) => Ok(given_server(*options)),
        }
    }

    /// Brings it up. `clients` connections will be opened at the same time.
    pub(crate) fn bring_up(self, args: &TargetArgs, clients: u32, progress: &Progress) -> Result<Server> {
        match self {
            Self::None => Ok(Server { options: None, origin: String::new(), notes: Vec::new(), hold: Hold::Nothing }),
            Self::Null => null_server(),
            Self::Given(options) => Ok(given_server(*options)),
            Self::Embedded(want) => private_server(want, args, clients, progress),
        }
    }
}

fn given_server(options: ConnectOptions) -> Server {
    let notes = options.warnings().to_vec();
    Server { options: Some(options), origin: "given".to_owned(), notes, hold: Hold::Nothing }
}

/// The private server that is kept, for single steps: the data of a temporary one would go with it.
fn kept_server(want: Want) -> Result<Server> {
    match kept::status(&places()?).or_fail(Code::Server)? {
        kept::Status::Running(server)
            if want == Want::Any || want == Want::Major(server.installation().version.major) =>
        {
            Ok(Server {
                options: Some(server.connect_options(PRIVATE_DATABASE)),
                origin: format!("private and kept, {}", origin(&server)),
                notes: Vec::new(),
                hold: Hold::Nothing,
            })
        }
        _ => Err(Failure::new(Code::Start, "no target is given, and no private server runs that could keep the data")
            .hint("give --target, or start one that stays with `pgdyno server start`")),
    }
}

/// A server that can be used, as long as this value lives.
pub(crate) struct Server {
    /// How to reach it; `None` without a server.
    pub(crate) options: Option<ConnectOptions>,
    /// Where it comes from, for the record.
    pub(crate) origin: String,
    /// What the user should know about it.
    pub(crate) notes: Vec<String>,
    hold: Hold,
}

/// What must end with the run.
enum Hold {
    Nothing,
    Embedded(Box<Embedded>),
    Null { child: Child, stdin: Option<ChildStdin>, directory: tempfile::TempDir },
}

impl Server {
    /// A connection for what is not measured.
    pub(crate) fn admin(&self) -> Result<Option<Admin>> {
        self.options.as_ref().map(Admin::connect).transpose().or_fail(Code::Start)
    }

    /// Why the private server is not there any more, if it is not.
    pub(crate) fn death(&mut self) -> Option<String> {
        match &mut self.hold {
            Hold::Embedded(embedded) => embedded.check().err().map(|error| error.to_string()),
            Hold::Nothing | Hold::Null { .. } => None,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Hold::Null { child, stdin, directory } = &mut self.hold {
            // End of its input is what it waits for; its directory goes with `directory`.
            drop(stdin.take());
            let _ = child.wait();
            let _ = directory.path();
        }
    }
}

/// Where private servers are kept.
pub(crate) fn places() -> Result<Places> {
    Places::of_user(|name| std::env::var_os(name)).or_fail(Code::Server)
}

/// Options for a private server of this program.
pub(crate) fn embedded_options(
    connections: u32,
    tcp: bool,
    settings: Vec<(String, String)>,
) -> Result<EmbeddedOptions> {
    let mut options = EmbeddedOptions::new(own_program()?, places()?);
    options.path = std::env::var_os("PATH");
    options.connections = connections;
    options.tcp = tcp;
    options.settings = settings;
    Ok(options)
}

/// This program, also while the file is being replaced.
fn own_program() -> Result<PathBuf> {
    let linux = PathBuf::from("/proc/self/exe");
    if linux.exists() { Ok(linux) } else { std::env::current_exe().or_fail(Code::Start) }
}

/// Tells what a start is busy with.
pub(crate) fn starting(progress: &Progress) -> impl FnMut(Start) + '_ {
    |step| {
        progress.note(&match step {
            Start::Fetching { major } => format!("fetching the portable PostgreSQL {major} (once, about 15 MB)"),
            Start::Initialising { version } => format!("making a private PostgreSQL {}", version.text),
            Start::Starting { version } => format!("starting a private PostgreSQL {}", version.text),
        });
    }
}

fn private_server(want: Want, args: &TargetArgs, clients: u32, progress: &Progress) -> Result<Server> {
    let connections = clients.saturating_add(OWN_CONNECTIONS);
    // A server that is kept is used as it is, unless something else is asked for.
    if let kept::Status::Running(server) = kept::status(&places()?).or_fail(Code::Server)? {
        let fits = match want {
            Want::Any => true,
            Want::Major(major) => server.installation().version.major == major,
        };
        // Its password for TCP is stored nowhere.
        if fits && args.settings.is_empty() && !args.tcp {
            return Ok(Server {
                options: Some(server.connect_options(PRIVATE_DATABASE)),
                origin: format!("private and kept, {}", origin(&server)),
                notes: Vec::new(),
                hold: Hold::Nothing,
            });
        }
        progress.note("the kept private server is not what is asked for: starting another one");
    }
    let options = embedded_options(connections, args.tcp, args.settings.clone())?;
    let embedded = Embedded::start(want, &options, &mut starting(progress)).or_fail(Code::Server)?;
    let server = embedded.server();
    let reached = match (server.tcp_dsn(PRIVATE_DATABASE), embedded.password()) {
        (Some(dsn), Some(password)) => {
            let env = Env::new([("PGPASSWORD", password.reveal().as_str())], None, None);
            ConnectOptions::resolve(&dsn, &env).or_fail(Code::Server)?
        }
        _ => server.connect_options(PRIVATE_DATABASE),
    };
    Ok(Server {
        options: Some(reached),
        origin: format!("private, {}", origin(server)),
        notes: embedded.warnings().iter().map(ToString::to_string).collect(),
        hold: Hold::Embedded(Box::new(embedded)),
    })
}

/// How a private server's programs were found.
pub(crate) fn origin(server: &PrivateServer) -> String {
    let installation = server.installation();
    match installation.origin {
        Origin::Portable => "portable".to_owned(),
        _ => format!("from {}", installation.bindir.display()),
    }
}

fn null_server() -> Result<Server> {
    let directory = tempfile::Builder::new().prefix("pgdyno-null-").tempdir().or_fail(Code::Server)?;
    let mut child = Command::new(own_program()?)
        .args(["server", "null", "--until-eof", "--socket-dir"])
        .arg(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .or_fail(Code::Server)?;
    let stdin = child.stdin.take();
    let options = ConnectOptions::for_socket(directory.path(), 5432, "null", "null");
    let hold = Hold::Null { child, stdin, directory };
    let server = Server { options: Some(options), origin: "null".to_owned(), notes: Vec::new(), hold };
    let patience = Instant::now() + Duration::from_secs(10);
    loop {
        match server.admin() {
            Ok(_) => return Ok(server),
            Err(failure) if Instant::now() > patience => return Err(failure),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
