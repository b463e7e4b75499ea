//! A private PostgreSQL for one test: started on a temporary directory, gone with its value.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_testing::directory::TestDirectory;

use crate::postgres;
pub(crate) use crate::postgres::{account, available};

/// Each server has its own directory for its socket and listens nowhere else.
const PORT: u16 = 5432;

/// Gives a file to the server's account.
pub(crate) fn hand_over(path: &Path) {
    if let Some((uid, gid)) = account() {
        chown(path, Some(uid), Some(gid)).unwrap();
    }
}

/// A program of PostgreSQL, as the account that servers run as.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(postgres::program(program));
    if let Some((uid, gid)) = account() {
        command.uid(uid).gid(gid);
    }
    command.env_clear().env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
    command
}

/// Runs it to a successful end.
pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A running server.
pub(crate) struct Server {
    dir: TestDirectory,
    child: Child,
}

impl Server {
    /// A fresh cluster with these lines at the end of its `postgresql.conf`.
    pub(crate) fn start(conf: &str) -> Self {
        let dir = TestDirectory::new("pgdyno");
        hand_over(dir.path());
        let (path, data) = (dir.path().to_str().unwrap(), dir.path().join("data"));
        run(command("initdb").arg("-D").arg(&data).args(["-U", "postgres", "-A", "trust", "-N", "-E", "UTF8"]));
        let settings = format!(
            "\nport = {PORT}\nlisten_addresses = ''\nunix_socket_directories = '{path}'\nfsync = off\n\
             shared_buffers = 64MB\nlogging_collector = off\nautovacuum = off\n{conf}\n"
        );
        let file = data.join("postgresql.conf");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text + &settings).unwrap();
        let log = std::fs::File::create(dir.path().join("log")).unwrap();
        let child = command("postgres").arg("-D").arg(&data).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut server = Self { dir, child };
        let deadline = Instant::now() + Duration::from_secs(60);
        while Admin::connect(&server.options()).is_err() {
            let log = || std::fs::read_to_string(server.dir.path().join("log")).unwrap();
            assert!(server.child.try_wait().unwrap().is_none(), "{}", log());
            assert!(Instant::now() < deadline, "no start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// The directory of its socket, its log and its data.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The superuser over the socket, in database `postgres`.
    pub(crate) fn options(&self) -> ConnectOptions {
        ConnectOptions::for_socket(self.dir.path(), PORT, "postgres", "postgres")
    }

    /// Another role.
    pub(crate) fn as_role(&self, role: &str, database: &str) -> ConnectOptions {
        ConnectOptions::for_socket(self.dir.path(), PORT, role, database)
    }

    /// A new database, for one test among several on one server.
    pub(crate) fn database(&self, name: &str) -> ConnectOptions {
        let mut admin = Admin::connect(&self.options()).unwrap();
        admin.execute(&format!("create database {name}")).unwrap();
        self.options().with_database(name)
    }

    /// Kills this session's process: the server takes that for a crash, and recovers.
    pub(crate) fn crash(&self, mut session: Admin) {
        let mut other = Admin::connect(&self.options()).unwrap();
        let pid = session.query_one("select pg_backend_pid()").unwrap().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        // The server ends every other session once it has noticed.
        while other.execute("select 1").is_ok() {
            assert!(Instant::now() < deadline, "it does not notice");
            std::thread::sleep(Duration::from_millis(20));
        }
        while Admin::connect(&self.options()).is_err() {
            assert!(Instant::now() < deadline, "it does not recover");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `pgbench -i` of the real pgbench.
    pub(crate) fn pgbench_init(&self, database: &str) {
        self.pgbench_init_with(database, &[]);
    }

    /// The same with options.
    pub(crate) fn pgbench_init_with(&self, database: &str, options: &[&str]) {
        let mut pgbench = command("pgbench");
        run(pgbench.args(["-i", "-q", "-U", "postgres", "-h"]).arg(self.dir()).args(options).arg(database));
    }

    /// `pg_dump` of one database, `pg_restore` into another; says so where the pg_dump that there is refuses newer servers.
    pub(crate) fn dump_and_restore(&self, from: &str, to: &str) -> bool {
        if postgres::major_of("pg_dump") < postgres::major() {
            let why = format!("a dump of PostgreSQL {}: no pg_dump of that version", postgres::major());
            crate::skipped::skipped(&why);
            return false;
        }
        let file = self.dir().join("dump");
        let client = |program| {
            let mut command = command(program);
            command.args(["-U", "postgres", "-h"]).arg(self.dir()).arg("-d");
            command
        };
        run(client("pg_dump").args([from, "-Fc", "-f"]).arg(&file));
        run(client("pg_restore").arg(to).arg(&file));
        true
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An immediate shutdown: nothing of the directory is kept.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        drop(self.child.wait());
    }
}
