//! The installed pgbench, and a private server for it.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use pgdyno_testing::directory::TestDirectory;

use crate::postgres;
use crate::skipped::skipped;

/// Where Debian puts PostgreSQL's programs, by version.
const INSTALLED: &str = "/usr/lib/postgresql";

/// Before 15, random numbers came from another generator.
const OLDEST: u32 = 15;

/// The newest installed pgbench.
pub(crate) struct Pgbench {
    bin: PathBuf,
    pub(crate) version: u32,
}

/// What a program printed, as far as it is UTF-8.
pub(crate) struct Printed {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Pgbench {
    /// Says that the test is skipped if there is none.
    pub(crate) fn find(test: &str) -> Option<Self> {
        let newest = std::fs::read_dir(INSTALLED)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|version| Path::new(INSTALLED).join(format!("{version}/bin/pgbench")).exists())
            .max();
        match newest {
            Some(version) if version >= OLDEST => {
                Some(Self { bin: Path::new(INSTALLED).join(format!("{version}/bin")), version })
            }
            _ => {
                skipped(&format!("{test}: no pgbench of version {OLDEST} or newer in {INSTALLED}"));
                None
            }
        }
    }

    /// Runs `script` from standard input.
    pub(crate) fn run(&self, args: &[&str], script: &[u8]) -> Printed {
        let mut child = Command::new(self.bin.join("pgbench"))
            .args(["-n", "-t", "1", "-U", "postgres", "-f", "-"])
            .args(args)
            .arg("postgres")
            .env_clear()
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It reads all of its input before it does anything.
        child.stdin.take().unwrap().write_all(script).unwrap();
        let Output { stdout, stderr, .. } = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Printed { stdout: text(stdout), stderr: text(stderr) }
    }
}

/// A running server; it ends with this value.
pub(crate) struct Server {
    child: Child,
    dir: TestDirectory,
}

impl Server {
    /// Starts one; says that the test is skipped if there is none.
    pub(crate) fn start(pgbench: &Pgbench, test: &str) -> Option<Self> {
        if !postgres::available(test) {
            return None;
        }
        let account = postgres::account();
        let dir = TestDirectory::new("pgdyno");
        if let Some((uid, gid)) = account {
            std::os::unix::fs::chown(dir.path(), Some(uid), Some(gid)).unwrap();
        }
        let command = |program: &str| {
            let mut command = Command::new(postgres::program(program));
            if let Some((uid, gid)) = account {
                command.uid(uid).gid(gid);
            }
            command.stdin(Stdio::null()).current_dir("/");
            command
        };
        let data = dir.path().join("data");
        let made = command("initdb")
            .args(["--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {made:?}");
        let log = std::fs::File::create(dir.path().join("log")).unwrap();
        let mut postgres = command("postgres");
        postgres.arg("-D").arg(&data).arg("-k").arg(dir.path());
        postgres.args(["-c", "listen_addresses=", "-c", "fsync=off"]).stdout(Stdio::null()).stderr(log);
        // SAFETY: between fork and exec only one system call is made; it allocates nothing.
        unsafe {
            postgres.pre_exec(|| {
                let signal = Some(rustix::process::Signal::QUIT);
                Ok(rustix::process::set_parent_process_death_signal(signal)?)
            });
        }
        let server = Self { child: postgres.spawn().unwrap(), dir };
        let until = Instant::now() + Duration::from_secs(120);
        while !pgbench.run(&["-h", server.host()], b"select 1;").stderr.is_empty() {
            let log = std::fs::read_to_string(server.dir.path().join("log"));
            assert!(Instant::now() < until, "no start: {log:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    /// The directory of its socket, for `-h`.
    pub(crate) fn host(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGQUIT: the postmaster takes its children with it, and its directory is deleted anyway.
        if let Some(pid) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            // A postmaster that is gone already is as good.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        }
        drop(self.child.wait());
    }
}
