//! A server that can be used, however it came about.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions, Env};
use pgdyno_results::PlaceRecord;
use pgdyno_server::{Embedded, EmbeddedOptions, Origin, Places, PrivateServer, Progress as Start, Want, kept};

use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::record::figures;

/// The database of a private server that is used.
pub(super) const PRIVATE_DATABASE: &str = "postgres";
/// Names the directory of the PostgreSQL that `embedded` means.
const DEFAULT_BUILD: &str = "PGDYNO_POSTGRES";
/// Connections of a run beside its clients: for probes, loading and checks.
const OWN_CONNECTIONS: u32 = 16;

/// A server that can be used, as long as this value lives.
pub struct Server {
    /// How to reach it; `None` without a server.
    pub options: Option<ConnectOptions>,
    /// Where it comes from, for the record.
    pub origin: String,
    /// What the user should know about it.
    pub notes: Vec<String>,
    hold: Hold,
}

/// What must end with the run.
enum Hold {
    Nothing,
    /// The private server that stays; nothing ends.
    Kept(Box<PrivateServer>),
    Embedded {
        embedded: Box<Embedded>,
        /// The settings that it was started with.
        settings: BTreeMap<String, String>,
    },
    Null {
        child: Child,
        stdin: Option<ChildStdin>,
        directory: tempfile::TempDir,
    },
}

/// Whose a server is, and so what may be done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Somebody else's, or none.
    Given,
    /// The private one that stays between runs.
    Kept,
    /// A private one of this process.
    Ours,
}

impl Server {
    /// No server.
    pub(super) fn none() -> Self {
        Self { options: None, origin: String::new(), notes: Vec::new(), hold: Hold::Nothing }
    }

    /// One that is there.
    pub(super) fn given(options: ConnectOptions, origin: &str) -> Self {
        Self { options: Some(options), origin: origin.to_owned(), notes: Vec::new(), hold: Hold::Nothing }
    }

    /// The private server that is kept, for single steps: the data of a temporary one would go with it.
    pub(super) fn kept(want: &Want) -> Result<Self> {
        running(&meant(want)?)?.map(Self::of_kept).ok_or_else(|| {
            Failure::new(Code::Start, "no target is given, and no private server runs that could keep the data")
                .hint("give --target, or start one that stays with `pgdyno server start`")
        })
    }

    fn of_kept(server: PrivateServer) -> Self {
        Self {
            options: Some(server.connect_options(PRIVATE_DATABASE)),
            origin: format!("private and kept, {}", origin(&server)),
            notes: Vec::new(),
            hold: Hold::Kept(Box::new(server)),
        }
    }

    /// The private server that is kept where it fits, else one that is started with these settings.
    pub(super) fn private(
        want: &Want,
        tcp: bool,
        settings: BTreeMap<String, String>,
        clients: u32,
        events: &dyn EventSink,
    ) -> Result<Self> {
        let want = &meant(want)?;
        match (running(want)?, running(&Want::Any)?) {
            // The password for its TCP is stored nowhere.
            (Some(server), _) if !tcp => return Ok(Self::of_kept(server)),
            (_, Some(_)) => events.note("the kept private server is not what is asked for: starting another one"),
            (_, None) => {}
        }
        let connections = clients.saturating_add(OWN_CONNECTIONS);
        let options = embedded_options(connections, tcp, settings.clone().into_iter().collect())?;
        let embedded = Embedded::start(want, &options, &mut starting(events)).or_fail(Code::Server)?;
        Ok(Self {
            options: Some(reach(&embedded)?),
            origin: format!("private, {}", origin(embedded.server())),
            notes: embedded.warnings().iter().map(ToString::to_string).collect(),
            hold: Hold::Embedded { embedded: Box::new(embedded), settings },
        })
    }

    /// A null server.
    pub(super) fn null() -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("pgdyno-null-").tempdir().or_fail(Code::Server)?;
        let mut child = Command::new(own_program()?)
            .args(["server", "null", "--until-eof", "--socket-dir"])
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // Ctrl-C on a terminal is for the run, which still needs it.
            .process_group(0)
            .spawn()
            .or_fail(Code::Server)?;
        let stdin = child.stdin.take();
        let options = ConnectOptions::for_socket(directory.path(), 5432, "null", "null");
        let hold = Hold::Null { child, stdin, directory };
        let server = Self { options: Some(options), origin: "null".to_owned(), notes: Vec::new(), hold };
        let patience = Instant::now() + Duration::from_secs(10);
        loop {
            match server.admin() {
                Ok(_) => return Ok(server),
                Err(failure) if Instant::now() > patience => return Err(failure),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// A connection for what is not measured.
    pub(crate) fn admin(&self) -> Result<Option<Admin>> {
        self.options.as_ref().map(Admin::connect).transpose().or_fail(Code::Start)
    }

    /// Says which database of which server this is, before anything is done there.
    ///
    /// # Errors
    /// When the server lets us in and does not answer.
    pub fn announce(&self, events: &dyn EventSink) -> Result<()> {
        let options = self.options.as_ref().filter(|_| !matches!(self.hold, Hold::Null { .. }));
        let Some(options) = options else { return Ok(()) };
        // Whoever needs the server next tells why it cannot be reached.
        events.note(&match Admin::connect(options) {
            Ok(mut admin) => format!("target: {}", named(&mut admin, options, &self.origin)?),
            Err(_) => format!("target: {options} ({})", self.origin),
        });
        Ok(())
    }

    /// Whose it is.
    pub(crate) fn whose(&self) -> Whose {
        match &self.hold {
            Hold::Nothing | Hold::Null { .. } => Whose::Given,
            Hold::Kept(_) => Whose::Kept,
            Hold::Embedded { .. } => Whose::Ours,
        }
    }

    /// The settings that a private server of this process was given beside those that fit the machine.
    pub(crate) fn settings_given(&self) -> Option<BTreeMap<String, String>> {
        match &self.hold {
            Hold::Embedded { settings, .. } => Some(settings.clone()),
            Hold::Nothing | Hold::Kept(_) | Hold::Null { .. } => None,
        }
    }

    /// Where a private server has its data.
    pub(crate) fn data_dir(&self) -> Option<&Path> {
        match &self.hold {
            Hold::Nothing | Hold::Null { .. } => None,
            Hold::Kept(server) => Some(server.data_dir()),
            Hold::Embedded { embedded, .. } => Some(embedded.server().data_dir()),
        }
    }

    /// Shuts a private server down and starts it again on its data, where it was. One of this process has these settings
    /// from then on and no others of earlier starts; the kept one has its own, and what ALTER SYSTEM has written.
    pub(crate) fn restart(&mut self, settings: &BTreeMap<String, String>) -> Result<()> {
        match &mut self.hold {
            Hold::Nothing | Hold::Null { .. } => {
                Err(Failure::new(Code::Server, "pgdyno restarts only servers that it started itself"))
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

    /// Why the private server is not there any more, if it is not.
    pub fn death(&mut self) -> Option<String> {
        match &mut self.hold {
            Hold::Embedded { embedded, .. } => embedded.check().err().map(|error| error.to_string()),
            Hold::Nothing | Hold::Kept(_) | Hold::Null { .. } => None,
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

/// The server that `admin` is connected to by `options`, in words: `PostgreSQL 15.14 (given), database bench, user ann,
/// host db1, port 5432`.
///
/// # Errors
/// When the connection is lost, or the server does not answer.
pub fn named(admin: &mut Admin, options: &ConnectOptions, origin: &str) -> Result<String> {
    let version = admin.parameters().get("server_version").and_then(|version| version.split(' ').next());
    // A pooler, or a server that is none of PostgreSQL's, may not say.
    let version = version.map_or_else(|| "a server".to_owned(), |version| format!("PostgreSQL {version}"));
    let standby = pgdyno_server::is_standby(admin).or_fail(Code::Start)?.unwrap_or_default();
    let place = PlaceRecord { standby, ..figures::place(admin, options) };
    Ok(format!("{version} ({origin}), {place}"))
}

/// The private server that is kept, where it runs and is what is wanted.
fn running(want: &Want) -> Result<Option<PrivateServer>> {
    Ok(match kept::status(&places()?).or_fail(Code::Server)? {
        kept::Status::Running(server) if want.is(server.installation()) => Some(server),
        _ => None,
    })
}

/// What is wanted where nothing but a private server is: the one that `PGDYNO_POSTGRES` names, if it is set.
pub fn meant(want: &Want) -> Result<Want> {
    match std::env::var_os(DEFAULT_BUILD).filter(|dir| !dir.is_empty()) {
        Some(dir) if *want == Want::Any => super::absolute(Want::Directory(dir.into()), Path::new("")),
        _ => Ok(want.clone()),
    }
}

/// How a private server of this process is reached.
fn reach(embedded: &Embedded) -> Result<ConnectOptions> {
    let server = embedded.server();
    match (server.tcp_dsn(PRIVATE_DATABASE), embedded.password()) {
        (Some(dsn), Some(password)) => {
            let env = Env::new([("PGPASSWORD", password.reveal().as_str())], None, None);
            ConnectOptions::resolve(&dsn, &env).or_fail(Code::Server)
        }
        _ => Ok(server.connect_options(PRIVATE_DATABASE)),
    }
}

/// Where private servers are kept.
pub fn places() -> Result<Places> {
    Places::of_user(|name| std::env::var_os(name)).or_fail(Code::Server)
}

/// Options for a private server of this program.
pub fn embedded_options(connections: u32, tcp: bool, settings: Vec<(String, String)>) -> Result<EmbeddedOptions> {
    let mut options = EmbeddedOptions::new(own_program()?, places()?);
    options.path = std::env::var_os("PATH");
    options.connections = connections;
    options.tcp = tcp;
    options.settings = settings;
    Ok(options)
}

/// This program, also while the file is being replaced.
pub fn own_program() -> Result<PathBuf> {
    let linux = PathBuf::from("/proc/self/exe");
    if linux.exists() { Ok(linux) } else { std::env::current_exe().or_fail(Code::Start) }
}

/// Tells what a start is busy with.
pub fn starting(events: &dyn EventSink) -> impl FnMut(Start) + '_ {
    |step| {
        events.note(&match step {
            Start::Fetching { major } => format!("fetching the portable PostgreSQL {major} (once, about 15 MB)"),
            Start::Initialising { version } => format!("making a private PostgreSQL {}", version.text),
            Start::Starting { version } => format!("starting a private PostgreSQL {}", version.text),
        });
    }
}

/// How a private server's programs were found.
pub fn origin(server: &PrivateServer) -> String {
    let installation = server.installation();
    match installation.origin {
        Origin::Portable => "portable".to_owned(),
        _ => format!("from {}", installation.bindir.display()),
    }
}
