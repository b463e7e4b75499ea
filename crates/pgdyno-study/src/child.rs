//! Runs an order in a separate process, so that its failure does not affect the next run.
//!
//! The child leads a process group, so that Ctrl-C reaches it only through its parent and no process of it is left
//! behind. Its standard input is a pipe that the parent holds open, and starts with the order: if the parent is killed,
//! the child ends cleanly. Its output goes to a log that stays locked as long as any process of the run lives.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::target::own_program;
use pgdyno_plan::{Order, SuitePlan};
use pgdyno_results::{RECORD, RunRecord, list_runs, read_record};
use pgdyno_untrusted::append_to_file;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The environment variable that names the store to which a run pushes itself.
pub const STORE_VARIABLE: &str = "PGDYNO_STORE";

/// How often the child is checked.
const GLANCE: Duration = Duration::from_millis(10);
/// Time for a child to end at once before it is killed.
const AT_ONCE: Duration = Duration::from_secs(20);

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The path of its record, and the record; none if the run did not start one.
    pub record: Option<(PathBuf, RunRecord)>,
}

/// Why a series of runs ended before its end.
pub enum Stopped {
    Interrupted,
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Returns the failure of a run that cannot be used, by its record, or what it said last; `what` begins the sentence.
pub fn failure(what: &str, record: Option<&RunRecord>, code: Option<i32>, log: &Path) -> Failure {
    let code = match code {
        Some(1) => Code::Start,
        Some(10) => Code::Server,
        Some(11) => Code::Load,
        Some(12) => Code::Check,
        _ => Code::Run,
    };
    let said = std::fs::read_to_string(log).unwrap_or_default();
    let last = || said.lines().rev().find_map(|line| line.strip_prefix("error: ")).map(str::to_owned);
    let why = record.and_then(|record| record.reason.clone()).or_else(last).unwrap_or_default();
    Failure::new(code, format!("{what}: {why}")).hint(format!("its output is in {}", log.display()))
}

/// Runs an order and waits for its end. Appends its output to `log`. `place` is stored in its record, and identifies
/// it. When `interrupt` asks for the end, the run is asked to end in the same way. It pushes itself to `store`, if there is
/// one.
pub fn run(
    order: &Order,
    place: &SuitePlan,
    results: &Path,
    log: &Path,
    store: Option<&str>,
    interrupt: &Interrupt,
) -> Result<Ended> {
    let log = locked(log, interrupt)?;
    let mark = format!("{}:{}:{}:{}", place.suite, place.id, place.run, place.repetition);
    let line = serde_json::to_string(order).or_fail(Code::Start)? + "\n";
    let mut child = Command::new(own_program()?)
        .args(["run", "--until-eof", "--suite-run", &mark, "--order", "--out"])
        .arg(results)
        // Not an argument, which other users of the machine could read.
        .env(STORE_VARIABLE, store.unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(log.try_clone().or_fail(Code::Start)?)
        .stderr(log)
        .process_group(0)
        .spawn()
        .or_fail(Code::Start)?;
    let mut input = child.stdin.take();
    // A child that has already ended says why in its log.
    let _ = input.as_mut().map(|input| input.write_all(line.as_bytes()));
    let status = wait(&mut child, input, interrupt).or_fail(Code::Start)?;
    Ok(Ended { code: status.code(), signal: status.signal(), record: find(results, place)? })
}

/// Opens a log and locks it. The lock belongs to the open file, which is the child's output: it lasts until the last
/// process of the run has ended, whatever happens to this process.
fn locked(path: &Path, interrupt: &Interrupt) -> Result<File> {
    let tried = |error: &dyn std::fmt::Display| {
        Failure::new(Code::Start, format!("failed to use the log {}: {error}", path.display()))
    };
    let log = append_to_file(path).map_err(|error| tried(&error))?;
    loop {
        match log.try_lock() {
            Ok(()) => return Ok(log),
            Err(TryLockError::WouldBlock) if !interrupt.control.is_stopping() => std::thread::sleep(GLANCE),
            Err(error) => return Err(tried(&error)),
        }
    }
}

/// Returns true if a process of the run with this log still lives.
pub fn lives(log: &Path) -> bool {
    File::open(log).is_ok_and(|log| matches!(log.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Waits for the child, and passes on what `interrupt` asks for. No process of its group is left afterwards.
fn wait(
    child: &mut Child,
    mut input: Option<ChildStdin>,
    interrupt: &Interrupt,
) -> std::io::Result<std::process::ExitStatus> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut killing: Option<Instant> = None;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if interrupt.control.is_stopping() {
            // The end of its input asks it to end cleanly.
            drop(input.take());
        }
        match (interrupt.control.is_killing(), killing, pid) {
            (true, None, Some(pid)) => {
                // Two different signals: two of the same kind could arrive as one.
                for signal in [Signal::TERM, Signal::INT] {
                    let _ = kill_process(pid, signal);
                }
                killing = Some(Instant::now());
            }
            (true, Some(since), _) if since.elapsed() > AT_ONCE => child.kill()?,
            _ => {}
        }
        std::thread::sleep(GLANCE);
    };
    if let Some(pid) = pid {
        // Usually no process is left, which is the error here.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    Ok(status)
}

/// Returns the newest record of this place in `results`, and its path.
pub fn find(results: &Path, place: &SuitePlan) -> Result<Option<(PathBuf, RunRecord)>> {
    Ok(records(results)?.find(|(_, record)| record.plan.suite.as_ref() == Some(place)))
}

/// Returns the records in `results` and their paths, the newest first. Skips records that cannot be read.
pub fn records(results: &Path) -> Result<impl Iterator<Item = (PathBuf, RunRecord)>> {
    let runs = list_runs(results).or_fail(Code::Start)?;
    Ok(runs.into_iter().rev().filter_map(|path| read_record(&path.join(RECORD)).ok().map(|record| (path, record))))
}
