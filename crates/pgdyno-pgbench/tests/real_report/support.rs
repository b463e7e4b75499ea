//! An installed pgbench and a private server for it.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use pgdyno_pgbench::log::file_name;
use pgdyno_testing::directory::TestDirectory;

use crate::postgres;
use crate::skipped::skipped;

/// A running server and the pgbench of its version; everything ends with this value.
pub(crate) struct Bench {
    dir: TestDirectory,
    /// pgbench's major version.
    pub(crate) version: u32,
}

/// What a run of pgbench left.
pub(crate) struct Run {
    /// The report, without the line of the version.
    pub(crate) report: String,
    pub(crate) stderr: String,
    /// The log of each thread.
    pub(crate) logs: Vec<String>,
}

impl Bench {
    /// Starts a server; `None`, and a count of it, where there is no pgbench.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let there = ["pgbench", "psql"].iter().all(|name| postgres::program(name).exists());
        if !postgres::available(test) || !there || postgres::major_of("pgbench") < 15 {
            skipped(&format!("{test}: no pgbench of version 15 or later, or no psql"));
            return None;
        }
        let dir = TestDirectory::new("pgdyno");
        if let Some((uid, gid)) = postgres::account() {
            chown(dir.path(), Some(uid), Some(gid)).unwrap();
        }
        let this = Self { dir, version: postgres::major_of("pgbench") };
        this.done(
            this.command("initdb")
                .args(["-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8"])
                .args(["--no-locale", "--no-sync"]),
        );
        let options = format!("-k {} -c listen_addresses= -c fsync=off -c autovacuum=off", this.dir.path().display());
        this.done(this.command("pg_ctl").args(["start", "-w", "-D", "data", "-l", "server.log", "-o", &options]));
        this.sql("create table counter (id int primary key, n int)");
        this.sql("insert into counter select id, 0 from generate_series(1, 4) id");
        Some(this)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(postgres::program(program));
        if let Some((uid, gid)) = postgres::account() {
            command.uid(uid).gid(gid);
        }
        command.env_clear().env("LC_ALL", "C").env("PGUSER", "postgres").env("PGHOST", self.dir.path());
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    fn done(&self, command: &mut Command) -> String {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a statement and returns the rows, a line for each.
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.done(self.command("psql").args(["-X", "-A", "-t", "-q", "-c", statement, "postgres"]))
    }

    /// Fills pgbench's own tables.
    pub(crate) fn initialize(&self) {
        self.done(self.command("pgbench").args(["-i", "-q", "postgres"]));
    }

    /// Puts a script where pgbench runs.
    pub(crate) fn script(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).unwrap();
    }

    /// Runs pgbench with these options, split at blanks, and a log.
    pub(crate) fn run(&self, options: &str, threads: u32) -> Run {
        let mut command = self.command("pgbench");
        command.args(["-n", "-l", "--log-prefix=txlog", "-j", &threads.to_string()]).args(options.split_whitespace());
        command.arg("postgres").stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let pid = child.id();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "pgbench {options}: {output:?}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        let (first, report) = stdout.split_once('\n').unwrap();
        assert!(first.starts_with("pgbench ("), "{first}");
        Run {
            report: report.to_owned(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            logs: (0..threads).map(|thread| self.read(&file_name("txlog", pid, thread))).collect(),
        }
    }

    fn read(&self, name: &str) -> String {
        let path: &Path = &self.dir.path().join(name);
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // Nothing of the directory is kept; a server that is gone already is as good.
        drop(self.command("pg_ctl").args(["stop", "-m", "immediate", "-D", "data"]).output());
    }
}
