//! A private PostgreSQL for one test: started on a temporary directory, gone with its value.

use std::net::{Ipv6Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions, Env};

use crate::skipped::skipped;

pub(crate) const BIN: &str = "/usr/lib/postgresql/15/bin";

/// PostgreSQL refuses to run as root; then it runs as `postgres`, who must own what it writes.
pub(crate) fn account() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|l| l.starts_with("postgres:")).unwrap();
    let fields: Vec<_> = line.split(':').collect();
    Some((fields[2].parse().unwrap(), fields[3].parse().unwrap()))
}

/// Gives a file to the server's account.
pub(crate) fn hand_over(path: &Path) {
    if let Some((uid, gid)) = account() {
        chown(path, Some(uid), Some(gid)).unwrap();
    }
}

pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(Path::new(BIN).join(program));
    if let Some((uid, gid)) = account() {
        command.uid(uid).gid(gid);
    }
    command.env_clear().env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
    command
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Whether there is a PostgreSQL to test with; says so if there is none.
pub(crate) fn available(test: &str) -> bool {
    let there = Path::new(BIN).join("postgres").exists();
    if !there {
        skipped(&format!("{test}: no PostgreSQL in {BIN}"));
    }
    there
}

pub(crate) struct Server {
    dir: tempfile::TempDir,
    child: Child,
    pub(crate) port: u16,
}

impl Server {
    /// A fresh cluster with these lines at the end of its `postgresql.conf` and as its `pg_hba.conf`.
    /// `%` in `conf` stands for the directory that [`Server::dir`] returns.
    pub(crate) fn start(conf: &str, hba: &str) -> Self {
        Self::start_in(&std::env::temp_dir(), conf, hba)
    }

    /// The same, with everything under `parent`: a file system of its own, say.
    pub(crate) fn start_in(parent: &Path, conf: &str, hba: &str) -> Self {
        let this = Self::prepare(parent, |data| {
            run(command("initdb")
                .args(["-D", data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8"])
                .args(["--no-locale"]));
        });
        this.launch(conf, Some(hba))
    }

    /// A standby of `primary`.
    pub(crate) fn standby_of(primary: &Self) -> Self {
        let (socket_dir, port) = (primary.dir(), primary.port.to_string());
        let this = Self::prepare(&std::env::temp_dir(), |data| {
            run(command("pg_basebackup").args(["-D", data, "-R", "-c", "fast", "-N", "-U", "postgres"]).args([
                "-h",
                socket_dir.to_str().unwrap(),
                "-p",
                &port,
            ]));
        });
        this.launch("", None)
    }

    fn prepare(parent: &Path, make: impl FnOnce(&str)) -> Prepared {
        let dir = tempfile::Builder::new().prefix("pgdyno").tempdir_in(parent).unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        hand_over(dir.path());
        make(dir.path().join("data").to_str().unwrap());
        Prepared { dir }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The superuser over the socket.
    pub(crate) fn options(&self) -> ConnectOptions {
        ConnectOptions::for_socket(self.dir.path(), self.port, "postgres", "postgres")
    }

    pub(crate) fn admin(&self) -> Admin {
        Admin::connect(&self.options()).unwrap()
    }

    /// `dsn` with this server's port, resolved in empty surroundings.
    pub(crate) fn resolve(&self, dsn: &str) -> ConnectOptions {
        let env = Env::new([], None, Some("postgres"));
        ConnectOptions::resolve(&format!("port={} {dsn}", self.port), &env).unwrap()
    }

    /// Ends it as a crash would: an immediate shutdown.
    pub(crate) fn crash(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::QUIT).ok();
        self.child.wait().ok();
    }

    /// Starts it again after [`Server::crash`].
    pub(crate) fn restart(&mut self) {
        self.child = postmaster(self.dir.path());
        self.await_start();
    }

    fn await_start(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Admin::connect(&self.options()).is_err() {
            let log = || std::fs::read_to_string(self.dir.path().join("log")).unwrap();
            assert!(self.child.try_wait().unwrap().is_none(), "{}", log());
            assert!(Instant::now() < deadline, "no start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

struct Prepared {
    dir: tempfile::TempDir,
}

impl Prepared {
    fn launch(self, conf: &str, hba: Option<&str>) -> Server {
        let data = self.dir.path().join("data");
        let path = self.dir.path().to_str().unwrap();
        let port = TcpListener::bind((Ipv6Addr::LOCALHOST, 0))
            .or_else(|_| TcpListener::bind("127.0.0.1:0"))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let settings = format!(
            "\nport = {port}\nlisten_addresses = '127.0.0.1,::1'\nunix_socket_directories = '{path}'\n\
             fsync = off\nshared_buffers = 16MB\nlogging_collector = off\n{}\n",
            conf.replace('%', path)
        );
        let file = data.join("postgresql.conf");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text + &settings).unwrap();
        if let Some(hba) = hba {
            std::fs::write(data.join("pg_hba.conf"), hba).unwrap();
        }
        let child = postmaster(self.dir.path());
        let mut server = Server { dir: self.dir, child, port };
        server.await_start();
        server
    }
}

fn postmaster(dir: &Path) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(dir.join("log")).unwrap();
    command("postgres").arg("-D").arg(dir.join("data")).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing of the directory is kept.
        self.crash();
    }
}
