//! Running the program, and looking at what it did.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pgdyno_testing::signals::set_default_signals;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// What takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The end of a script that rests: a closed loop of it leaves the CPUs to others.
pub(crate) const REST: &str = "\\sleep 10 ms\n";

/// A home of its own for the program: no configuration, no cache and no results but those of one test.
pub(crate) struct Home {
    dir: tempfile::TempDir,
    program: PathBuf,
    /// Whom it runs as, where that is another user.
    account: Option<(u32, u32)>,
}

impl Home {
    /// For the user who runs the tests.
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("pgdyno-cli").tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { dir, program: env!("CARGO_BIN_EXE_pgdyno").into(), account: None }
    }

    /// For an ordinary user: `nobody` where the tests run as root.
    pub(crate) fn of_an_ordinary_user() -> Self {
        let mut home = Self::new();
        if rustix::process::geteuid().is_root() {
            let (uid, gid) = account("nobody");
            chown(home.path(), Some(uid), Some(gid)).unwrap();
            // The target directory may be where only root gets. A process of its own copies: what another test starts at
            // that moment would inherit our file, open for writing, and nobody could run it ("text file busy").
            let program = home.path().join("pgdyno");
            assert!(Command::new("cp").arg("-p").arg(&home.program).arg(&program).status().unwrap().success());
            home.program = program;
            home.account = Some((uid, gid));
        }
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A file or directory in it.
    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// The program, in this home, with nothing of our environment but where to find PostgreSQL.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        self.as_user(Command::new(&self.program), args)
    }

    /// A shell script in the same surroundings; `$0` is the program.
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        let program = self.program.clone();
        self.as_user(command, [program])
    }

    /// A bash script that ends at the first failure, as CI systems run theirs; `pgdyno` is in its PATH.
    pub(crate) fn bash(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]);
        let mut command = self.as_user(command, [] as [&str; 0]);
        let own = self.program.parent().unwrap().display();
        command.env("PATH", format!("{own}:{}", std::env::var("PATH").unwrap_or_default()));
        command
    }

    fn as_user<S: AsRef<OsStr>>(&self, mut command: Command, args: impl IntoIterator<Item = S>) -> Command {
        command.args(args).env_clear().env("HOME", self.path()).env("XDG_CACHE_HOME", self.join("cache"));
        command.env("LC_ALL", "C").envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        // Root's cache is where the machine's is, whatever its home.
        if self.account.is_none() && rustix::process::geteuid().is_root() {
            command.env("PGDYNO_CACHE", self.join("cache/pgdyno"));
        }
        command.envs(crate::postgres::chosen().map(|bin| ("PGDYNO_POSTGRES", bin)));
        command.current_dir(self.path()).stdin(Stdio::null());
        if let Some((uid, gid)) = self.account {
            command.uid(uid).gid(gid);
        }
        set_default_signals(&mut command);
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        finish(self.command(args))
    }

    /// Runs `pgdyno COMMAND` for an order, as suites and searches do.
    pub(crate) fn order(&self, command: &str, order: &Value) -> Ran {
        std::fs::write(self.join("order.json"), order.to_string()).unwrap();
        let mut command = self.command([command, "--order", "-q"]);
        command.stdin(std::fs::File::open(self.join("order.json")).unwrap());
        finish(command)
    }

    /// Starts it.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::new(self.command(args))
    }

    /// The runs in `pgdyno-results`, oldest first.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let Ok(entries) = std::fs::read_dir(self.join("pgdyno-results")) else { return Vec::new() };
        let paths = entries.map(|e| e.unwrap().path()).filter(|path| path.join("run.json").is_file());
        let mut runs: Vec<_> = paths.map(|path| Run::read(&path)).collect();
        // Names have the second only.
        runs.sort_by_key(|run| run.text("/started_at").trim_end_matches('Z').to_owned());
        runs
    }

    /// The only run.
    pub(crate) fn the_run(&self) -> Run {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "one run is expected");
        runs.remove(0)
    }

    /// Processes that have something of this home in their command lines.
    pub(crate) fn processes(&self) -> Vec<String> {
        let home = self.path().to_str().unwrap();
        processes().into_iter().filter(|p| p.args.contains(home)).map(|p| p.args).collect()
    }

    /// Private servers that are left in the cache.
    pub(crate) fn instances(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.join("cache/pgdyno/instances"))
            .map(|entries| entries.map(|e| e.unwrap().path()).filter(|path| path.is_dir()).collect())
            .unwrap_or_default()
    }

    /// Nothing of a private server is there any more.
    pub(crate) fn assert_clean(&self) {
        assert_eq!(self.processes(), Vec::<String>::new());
        assert_eq!(self.instances(), Vec::<PathBuf>::new());
    }
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        command: format!("{command:?}"),
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// How it ended, and what it said.
pub(crate) struct Ran {
    command: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// It ended with `code`.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        let Self { command, stdout, stderr, .. } = &self;
        assert_eq!(self.code, Some(code), "{command}\n{stdout}\n{stderr}");
        // Whatever happens, it does not happen by a panic.
        assert!(!stderr.contains("panicked"), "{command}\n{stderr}");
        self
    }

    /// All went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.ended(0)
    }

    /// Its standard error says all of this.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{}: '{word}' is not in:\n{}", self.command, self.stderr);
        }
        self
    }

    /// Its standard output says all of this, wherever its lines are wrapped.
    #[track_caller]
    pub(crate) fn prints(self, words: &[&str]) -> Self {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let all = one_line(&self.stdout);
        for word in words {
            assert!(
                self.stdout.contains(word) || all.contains(&one_line(word)),
                "{}: '{word}' is not in:\n{}",
                self.command,
                self.stdout
            );
        }
        self
    }
}

/// The program while it runs. Killed with this value.
pub(crate) struct Running {
    child: Child,
    /// What it has said on standard error so far.
    said: Arc<Mutex<String>>,
    stderr: Option<JoinHandle<()>>,
    stdout: Option<JoinHandle<String>>,
}

impl Running {
    pub(crate) fn new(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stderr, mut stdout) = (child.stderr.take().unwrap(), child.stdout.take().unwrap());
        let said = Arc::new(Mutex::new(String::new()));
        let received = Arc::clone(&said);
        let stderr = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines() {
                let line = line.unwrap();
                let mut received = received.lock().unwrap();
                received.push_str(&line);
                received.push('\n');
            }
        });
        let stdout = std::thread::spawn(move || std::io::read_to_string(&mut stdout).unwrap());
        Self { child, said, stderr: Some(stderr), stdout: Some(stdout) }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Waits until its standard error says `word`, so many times.
    #[track_caller]
    pub(crate) fn until_it_says(&mut self, word: &str, times: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.said.lock().unwrap().matches(word).count() < times {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < deadline, "{ended:?}: {}", self.said.lock().unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid()).unwrap(), signal).unwrap();
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ran {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end: {}", self.said.lock().unwrap());
            std::thread::sleep(Duration::from_millis(10));
        };
        self.stderr.take().unwrap().join().unwrap();
        let stdout = self.stdout.take().unwrap().join().unwrap();
        let stderr = self.said.lock().unwrap().clone();
        Ran { command: "pgdyno".to_owned(), code: status.code(), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

/// A run directory and its record.
pub(crate) struct Run {
    pub(crate) path: PathBuf,
    pub(crate) record: Value,
}

impl Run {
    pub(crate) fn read(path: &Path) -> Self {
        Self { path: path.to_owned(), record: json(&path.join("run.json")) }
    }

    /// A value of the record: `/summary/tps`.
    #[track_caller]
    pub(crate) fn at(&self, pointer: &str) -> &Value {
        self.record.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {}", self.record))
    }

    /// A number of the record.
    #[track_caller]
    pub(crate) fn number(&self, pointer: &str) -> f64 {
        self.at(pointer).as_f64().unwrap()
    }

    /// A word of the record.
    #[track_caller]
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap()
    }

    /// The names of the check sets; all of their checks hold.
    #[track_caller]
    pub(crate) fn checks_that_hold(&self) -> Vec<&str> {
        let sets = self.at("/checks").as_array().unwrap();
        for check in sets.iter().flat_map(|set| set["checks"].as_array().unwrap()) {
            assert_eq!(check["holds"], true, "{check}");
        }
        sets.iter().map(|set| set["when"].as_str().unwrap()).collect()
    }

    /// The lines of `intervals.csv` as maps from column to cell.
    pub(crate) fn intervals(&self) -> Vec<std::collections::BTreeMap<String, String>> {
        let text = std::fs::read_to_string(self.path.join("intervals.csv")).unwrap();
        let mut lines = text.lines();
        let header: Vec<_> = lines.next().unwrap().split(',').collect();
        let row = |line: &str| {
            let cells: Vec<_> = line.split(',').collect();
            assert_eq!(cells.len(), header.len(), "{line}");
            header.iter().map(|name| (*name).to_owned()).zip(cells.iter().map(|cell| (*cell).to_owned())).collect()
        };
        lines.map(row).collect()
    }

    /// Committed transactions of the measured intervals that are on disk.
    pub(crate) fn committed_by_intervals(&self) -> u64 {
        let measured = self.intervals().into_iter().filter(|row| row["phase"] == "measure");
        measured.map(|row| row["committed"].parse::<u64>().unwrap()).sum()
    }
}

/// Reads a JSON file.
#[track_caller]
pub(crate) fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// No file under `path` holds `text`.
pub(crate) fn assert_nowhere(text: &str, path: &Path) {
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_nowhere(text, &path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(text.len()).any(|window| window == text.as_bytes()), "{}", path.display());
        }
    }
}

/// Waits until it is so.
#[track_caller]
pub(crate) fn eventually(what: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + within;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {within:?}: {what}");
        // Many of these questions cost a session of the server.
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A process that runs.
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) args: String,
}

/// All processes that run; those that only wait to be reaped do not.
pub(crate) fn processes() -> Vec<Process> {
    let output = Command::new("ps").args(["-A", "-ww", "-o", "pid=,ppid=,stat=,args="]).output().unwrap();
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let (pid, parent) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let state = words.next()?;
        let args = words.collect::<Vec<_>>().join(" ");
        (!state.starts_with('Z')).then_some(Process { pid, parent, args })
    };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect()
}

/// The processes below `pid`.
pub(crate) fn descendants(pid: i32) -> Vec<Process> {
    let (mut found, mut parents) = (Vec::new(), vec![pid]);
    let mut rest = processes();
    while let Some(parent) = parents.pop() {
        let (children, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|p| p.parent == parent);
        rest = others;
        parents.extend(children.iter().map(|p| p.pid));
        found.extend(children);
    }
    found
}

/// An account's user and group.
pub(crate) fn account(name: &str) -> (u32, u32) {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name)).unwrap();
    let fields: Vec<_> = line.split(':').collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}
