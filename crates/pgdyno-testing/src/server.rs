//! A private PostgreSQL for one test in a temporary directory, removed when its value is dropped.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions, Env};

use crate::cluster;
use crate::directory::TestDirectory;
use crate::port::Port;
pub use crate::postgres::{account, available, command, hand_over};

/// A running server.
#[derive(Debug)]
pub struct TestServer {
    dir: TestDirectory,
    child: Child,
    /// Port, for TCP and for the socket.
    pub port: u16,
    _reserved: Port,
}

impl TestServer {
    /// Starts a new cluster with `conf` appended to its `postgresql.conf` and these lines as its `pg_hba.conf`. `%` in `conf`
    /// stands for the directory that [`TestServer::dir`] returns.
    #[must_use]
    pub fn start(conf: &str, hba: &str) -> Self {
        Self::start_in(&std::env::temp_dir(), conf, hba)
    }

    /// Starts a new cluster like [`TestServer::start`] under `parent`, for example a separate file system.
    #[must_use]
    pub fn start_in(parent: &Path, conf: &str, hba: &str) -> Self {
        let this = Self::prepare(parent, |data| cluster::copy(cluster::fresh(), Path::new(data)));
        this.launch(conf, Some(hba))
    }

    /// Starts a cluster like [`TestServer::start`] with what `fill` leaves on a new one. That is done once and kept in `target/`
    /// under `name`, for all tests, until `program`, which fills it, is another one.
    #[must_use]
    pub fn start_filled(name: &str, program: &Path, fill: impl FnOnce(&Self), conf: &str, hba: &str) -> Self {
        let filled = |kept: &Path| {
            let mut server = Self::start(cluster::CONF, "local all all trust\n");
            fill(&server);
            server.admin().execute("checkpoint").unwrap();
            cluster::copy(&server.shut_down(), kept);
        };
        let this = Self::prepare(&std::env::temp_dir(), |data| {
            cluster::copy_filled(name, program, filled, Path::new(data));
        });
        this.launch(conf, Some(hba))
    }

    /// Starts a new cluster like [`TestServer::start`] with a system identifier of its own, which takes longer.
    #[must_use]
    pub fn start_unlike_others(conf: &str, hba: &str) -> Self {
        let this = Self::prepare(&std::env::temp_dir(), |data| cluster::initdb(Path::new(data)));
        this.launch(conf, Some(hba))
    }

    /// Starts a standby of `primary`, copied with the server's own functions: pg_basebackup of its version may be missing.
    #[must_use]
    pub fn standby_of(primary: &Self) -> Self {
        let this = Self::prepare(&std::env::temp_dir(), |data| {
            let mut admin = primary.admin();
            let (start, stop) = match crate::postgres::major() {
                ..15 => ("pg_start_backup('standby', true, false)", "pg_stop_backup(false, false)"),
                _ => ("pg_backup_start('standby', true)", "pg_backup_stop(false)"),
            };
            admin.query(&format!("select {start}")).unwrap();
            let from = primary.dir().join("data");
            cluster::copy(&from, Path::new(data));
            let label = admin.query_one(&format!("select labelfile from {stop}")).unwrap();
            let data = Path::new(data);
            std::fs::remove_file(data.join("postmaster.pid")).unwrap();
            let primary = format!(
                "\nprimary_conninfo = 'host={} port={} user=postgres'\n",
                primary.dir().display(),
                primary.port
            );
            for (name, text) in [("backup_label", label), ("standby.signal", String::new())] {
                std::fs::write(data.join(name), text).unwrap();
                hand_over(&data.join(name));
            }
            let conf = data.join("postgresql.conf");
            let text = std::fs::read_to_string(&conf).unwrap();
            std::fs::write(&conf, text + &primary).unwrap();
        });
        this.launch("", None)
    }

    fn prepare(parent: &Path, make: impl FnOnce(&str)) -> Prepared {
        let dir = TestDirectory::new_in(parent, "pgdyno");
        hand_over(dir.path());
        make(dir.path().join("data").to_str().unwrap());
        Prepared { dir }
    }

    /// Returns the directory of its socket, log and data.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the settings to connect as superuser over the socket.
    #[must_use]
    pub fn options(&self) -> ConnectOptions {
        ConnectOptions::for_socket(self.dir.path(), self.port, "postgres", "postgres")
    }

    /// Connects as superuser.
    #[must_use]
    pub fn admin(&self) -> Admin {
        let mut admin = Admin::connect(&self.options()).unwrap();
        // Tests wait for locks, and on busy machines for everything.
        admin.wait_without_limit();
        admin
    }

    /// Resolves `dsn` with this server's port and without environment variables or files.
    #[must_use]
    pub fn resolve(&self, dsn: &str) -> ConnectOptions {
        let env = Env::new([], None, Some("postgres"));
        ConnectOptions::resolve(&format!("port={} {dsn}", self.port), &env).unwrap()
    }

    /// Shuts the server down in mode fast, and returns the directory of its data, which goes with this value.
    pub(crate) fn shut_down(&mut self) -> PathBuf {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert!(self.child.wait().unwrap().success());
        self.dir.path().join("data")
    }

    /// Shuts the server down in mode immediate, as a crash would.
    pub fn crash(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::QUIT).ok();
        self.child.wait().ok();
    }

    /// Kills all of its processes, which have no time for a word.
    pub fn kill(&mut self) {
        let postmaster = self.child.id();
        // It must not notice the end of the others and say so.
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), rustix::process::Signal::STOP)
            .ok();
        let of_server = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The name before the state may have spaces.
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
            parent == Some(postmaster)
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let children: Vec<u32> = numbers.filter(of_server).collect();
        let signal = |pid: u32, signal| {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            rustix::process::kill_process(pid, signal).ok();
        };
        children.iter().for_each(|pid| signal(*pid, rustix::process::Signal::KILL));
        signal(postmaster, rustix::process::Signal::KILL);
        self.child.wait().ok();
        // Its shared memory is in use until the last of them has gone.
        while children.iter().any(|pid| Path::new(&format!("/proc/{pid}")).exists()) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts the server after [`TestServer::crash`] or [`TestServer::kill`].
    pub fn restart(&mut self) {
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
        // A server that can bind only some of its addresses logs that and starts.
        let log = std::fs::read_to_string(self.dir.path().join("log")).unwrap();
        assert!(!log.contains("could not bind IPv4"), "{log}");
    }
}

struct Prepared {
    dir: TestDirectory,
}

impl Prepared {
    fn launch(self, conf: &str, hba: Option<&str>) -> TestServer {
        let data = self.dir.path().join("data");
        let path = self.dir.path().to_str().unwrap();
        let reserved = Port::reserve();
        let port = reserved.number();
        // A server that is killed leaves what is in /dev/shm there. Compiling queries takes longer than it saves with so few rows, and
        // so do large samples.
        let settings = format!(
            "\nport = {port}\nlisten_addresses = '127.0.0.1,::1'\nunix_socket_directories = '{path}'\n\
             fsync = off\nshared_buffers = 16MB\nlogging_collector = off\ndynamic_shared_memory_type = mmap\n\
             jit = off\ndefault_statistics_target = 10\n{}\n",
            conf.replace('%', path)
        );
        let file = data.join("postgresql.conf");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text + &settings).unwrap();
        if let Some(hba) = hba {
            std::fs::write(data.join("pg_hba.conf"), hba).unwrap();
        }
        let child = postmaster(self.dir.path());
        let mut server = TestServer { dir: self.dir, child, port, _reserved: reserved };
        server.await_start();
        server
    }
}

fn postmaster(dir: &Path) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(dir.join("log")).unwrap();
    command("postgres").arg("-D").arg(dir.join("data")).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // The directory is removed next: a clean shutdown is not needed.
        self.crash();
    }
}
