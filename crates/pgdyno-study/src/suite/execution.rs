//! One execution of a suite: its directory, its state and its lock.
//!
//! `RESULTS/suites/NAME-ID/` has `state.json`, `suite.toml` (the file as it was), `suite.log`, `suite.lock` and the
//! output of each run in `runs/`.

mod state;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_plan::suite::{Suite, Turn};
use pgdyno_results::write_json;
use pgdyno_untrusted::append_to_file;

pub use state::{End, ExecutionState, Planned};

use super::check::CellDraft;

/// The version of `state.json` that is written, and the newest that can be read.
const FORMAT_VERSION: u32 = 1;
/// A process that only tests a lock holds it for an instant, so taking it is retried for this time.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// An execution on disk.
#[derive(Debug)]
pub struct SuiteExecution {
    /// Its directory.
    pub dir: PathBuf,
    /// Its state.
    pub state: ExecutionState,
}

/// Held while a process works on an execution.
#[derive(Debug)]
pub struct ExecutionLock {
    _file: File,
}

/// The origin of a new execution.
pub struct ExecutionOrigin<'a> {
    /// The suite's file.
    pub file: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// The file with the named targets.
    pub config: &'a Path,
    /// The results directory.
    pub results: &'a Path,
    /// Labels of all runs.
    pub labels: &'a [(String, String)],
}

/// Returns the directory of executions.
fn home(results: &Path) -> PathBuf {
    results.join("suites")
}

/// Returns the hash of a suite's file.
pub fn hash(text: &str) -> String {
    pgdyno_plan::sha256(text.as_bytes())
}

impl SuiteExecution {
    /// Creates the directory of a new execution.
    pub fn create(suite: &Suite, drafts: &[CellDraft], origin: &ExecutionOrigin<'_>) -> Result<Self> {
        let ExecutionOrigin { file, text, config, results, labels } = *origin;
        let results = std::path::absolute(results).or_fail(Code::Start)?;
        let now = Timestamp::now();
        let mut salt = now.as_nanosecond() as u64 ^ u64::from(std::process::id()) << 8;
        let (id, dir) = loop {
            let id = format!("{}-{:04x}", now.strftime("%Y%m%dT%H%M%SZ"), salt & 0xffff);
            let dir = home(&results).join(format!("{}-{id}", suite.name));
            fs::create_dir_all(home(&results)).map_err(|error| unwritable(&home(&results), &error))?;
            match fs::create_dir(&dir) {
                Ok(()) => break (id, dir),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => salt = salt.wrapping_add(1),
                Err(error) => return Err(unwritable(&dir, &error)),
            }
        };
        let planned = |turn: &Turn| Planned {
            run: suite.cells[turn.cell].key.clone(),
            repetition: turn.repetition,
            expected_s: drafts[turn.cell].seconds(),
        };
        let state = ExecutionState {
            format_version: FORMAT_VERSION,
            suite: suite.name.clone(),
            id,
            file: std::path::absolute(file).or_fail(Code::Start)?,
            hash: hash(text),
            cwd: std::env::current_dir().or_fail(Code::Start)?,
            results,
            config: config.to_owned(),
            labels: labels.to_vec(),
            begun_at: now.to_string(),
            order: suite.order,
            seed: suite.seed,
            runs: suite.turns().iter().map(planned).collect(),
            worked_s: 0.0,
            current: None,
            failed: BTreeMap::new(),
            superseded: Vec::new(),
            provisioned: BTreeMap::new(),
            end: None,
        };
        let execution = Self { dir, state };
        let write = || {
            fs::create_dir(execution.dir.join("runs"))?;
            fs::write(execution.dir.join("suite.toml"), text)
        };
        write().map_err(|error| unwritable(&execution.dir, &error))?;
        execution.write()?;
        Ok(execution)
    }

    /// Reads the execution in `dir`.
    pub fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("state.json");
        let tried = |error: &dyn std::fmt::Display| {
            CommandError::new(Code::Start, format!("failed to read the state of a suite, {}: {error}", path.display()))
        };
        let text = fs::read_to_string(&path).map_err(|error| tried(&error))?;
        let mut state: ExecutionState = serde_json::from_str(&text).map_err(|error| {
            tried(&error)
                .hint(format!("restore it, or remove {} and start the suite again; its runs are kept", dir.display()))
        })?;
        if state.format_version > FORMAT_VERSION {
            let error = format!("format {} is of a newer pgdyno", state.format_version);
            return Err(tried(&error).hint("resume it with the version of pgdyno that began it"));
        }
        // The results may have been moved, and paths are relative to where the suite was started.
        let dir = std::path::absolute(dir).or_fail(Code::Start)?;
        if let Some(results) = dir.ancestors().nth(2) {
            results.clone_into(&mut state.results);
        }
        Ok(Self { dir, state })
    }

    /// Returns all executions in `results`, the oldest first, and why others cannot be read. A directory without a state was
    /// never started.
    pub fn all(results: &Path) -> Result<(Vec<Self>, Vec<CommandError>)> {
        let entries = match fs::read_dir(home(results)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
            entries => entries.or_fail(Code::Start)?,
        };
        let mut dirs: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        dirs.retain(|dir| dir.join("state.json").is_file());
        dirs.sort();
        let (mut all, mut unreadable) = (Vec::new(), Vec::new());
        for dir in dirs {
            match Self::open(&dir) {
                Ok(execution) => all.push(execution),
                Err(failure) => unreadable.push(failure),
            }
        }
        all.sort_by_key(|execution| execution.state.begun_at.parse::<Timestamp>().ok());
        Ok((all, unreadable))
    }

    /// Returns the newest execution of all, or of a suite's name, or the one of this name or directory.
    pub fn find(results: &Path, name: Option<&str>) -> Result<Self> {
        if let Some(dir) = name.map(Path::new).filter(|dir| dir.join("state.json").is_file()) {
            return Self::open(dir);
        }
        let fits = |execution: &Self| {
            let state = &execution.state;
            name.is_none_or(|name| state.suite == name || state.name() == name || state.id == name)
        };
        // A directory is called NAME-ID.
        if let Some(dir) = name.map(|name| home(results).join(name)).filter(|dir| dir.join("state.json").is_file()) {
            return Self::open(&dir);
        }
        let (all, unreadable) = Self::all(results)?;
        if let Some(found) = all.into_iter().rfind(fits) {
            return Ok(found);
        }
        Err(unreadable.into_iter().next_back().unwrap_or_else(|| {
            let named =
                name.map_or_else(|| "no suite has been started yet".to_owned(), |name| format!("no suite {name}"));
            CommandError::new(Code::Start, format!("{named} in {}", home(results).display()))
                .hint("`pgdyno suite list` names those that are there; --out names another results directory")
        }))
    }

    /// Writes the state atomically. It is on disk when this returns.
    pub fn write(&self) -> Result<()> {
        let path = self.dir.join("state.json");
        let written = write_json(&self.dir, "state.json", &self.state);
        let written = written.map_err(|error| error.to_string());
        let synced = || File::open(&self.dir)?.sync_all();
        written.and_then(|()| synced().map_err(|error: io::Error| error.to_string())).map_err(|error| {
            CommandError::new(Code::Run, format!("failed to write the suite's state, {}: {error}", path.display()))
                .hint(format!(
                    "what has been run is kept; `pgdyno suite resume {}` resumes when that is fixed",
                    self.state.name()
                ))
        })
    }

    /// Locks the execution: two processes must not work on it. Reads the state again, because the previous holder may
    /// have changed it.
    pub fn lock(&mut self) -> Result<ExecutionLock> {
        let path = self.dir.join("suite.lock");
        let tried = |error: &dyn std::fmt::Display| {
            CommandError::new(Code::Start, format!("failed to lock {}: {error}", path.display()))
        };
        let mut file = append_to_file(&path).map_err(|e| tried(&e))?;
        let patience = Instant::now() + LOCK_PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < patience => {
                    std::thread::sleep(Duration::from_millis(20))
                }
                Err(TryLockError::WouldBlock) => {
                    let who = self.holder().map_or_else(String::new, |pid| format!(" (process {pid})"));
                    let name = self.state.name();
                    return Err(CommandError::new(Code::Start, format!("suite {name} is already running{who}"))
                        .hint(format!("`pgdyno suite attach {name}` shows it, `pgdyno suite stop {name}` ends it")));
                }
                Err(TryLockError::Error(error)) => return Err(tried(&error)),
            }
        }
        file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(|error| tried(&error))?;
        self.state = Self::open(&self.dir)?.state;
        Ok(ExecutionLock { _file: file })
    }

    /// Returns the process that works on it, if there is one.
    pub fn holder(&self) -> Option<i32> {
        let path = self.dir.join("suite.lock");
        let file = File::open(&path).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => fs::read_to_string(&path).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// Returns true if a process works on it.
    pub fn lives(&self) -> bool {
        File::open(self.dir.join("suite.lock"))
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Returns the file for the output of all attempts of a run.
    pub fn run_log(&self, nth: usize) -> PathBuf {
        let Planned { run, repetition, .. } = &self.state.runs[nth];
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._=+@-".contains(c) { c } else { '-' };
        // The length of a file name is limited, and the number already identifies the run.
        let key: String = run.chars().map(plain).take(150).collect();
        self.dir.join("runs").join(format!("{:04}-{key}-{repetition}.log", nth + 1))
    }

    /// Returns the file for the output of the suite.
    pub fn log(&self) -> PathBuf {
        self.dir.join("suite.log")
    }
}

fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(Code::Start, format!("failed to make {}: {error}", path.display()))
        .hint("name another results directory with --out")
}
