//! A private PostgreSQL for one test, and what these tests do with it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_testing::server::{TestServer, command};
pub(crate) use pgdyno_testing::server::{available, hand_over};

use crate::postgres;

/// Runs it to a successful end.
pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A running server.
pub(crate) struct Server {
    server: TestServer,
}

impl Server {
    /// Starts a new cluster with these lines at the end of its `postgresql.conf`.
    pub(crate) fn start(conf: &str) -> Self {
        let conf = format!("shared_buffers = 64MB\nautovacuum = off\n{conf}");
        Self { server: TestServer::start(&conf, "local all all trust\n") }
    }

    /// The directory of its socket, its log and its data.
    pub(crate) fn dir(&self) -> &Path {
        self.server.dir()
    }

    /// The superuser over the socket, in database `postgres`.
    pub(crate) fn options(&self) -> ConnectOptions {
        self.server.options()
    }

    /// Another role.
    pub(crate) fn as_role(&self, role: &str, database: &str) -> ConnectOptions {
        ConnectOptions::for_socket(self.dir(), self.server.port, role, database)
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
        let port = format!("--port={}", self.server.port);
        run(pgbench.args(["-i", "-q", "-U", "postgres", &port, "-h"]).arg(self.dir()).args(options).arg(database));
    }

    /// `pg_dump` of one database, `pg_restore` into another; says so where the pg_dump that there is refuses newer servers.
    pub(crate) fn dump_and_restore(&self, from: &str, to: &str) -> bool {
        if postgres::major_of("pg_dump") < postgres::major() {
            let why = format!("a dump of PostgreSQL {}: no pg_dump of that version", postgres::major());
            crate::skipped::skipped(&why);
            return false;
        }
        let file = self.dir().join("dump");
        let port = format!("--port={}", self.server.port);
        let client = |program| {
            let mut command = command(program);
            command.args(["-U", "postgres", &port, "-h"]).arg(self.dir()).arg("-d");
            command
        };
        run(client("pg_dump").args([from, "-Fc", "-f"]).arg(&file));
        run(client("pg_restore").arg(to).arg(&file));
        true
    }
}
