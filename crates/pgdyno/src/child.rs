//! A run as a process of its own: whatever becomes of it, the next one is not touched.
//!
//! The child leads a process group, so that Ctrl-C reaches it through its parent only and nothing of it is left behind.
//! Its standard input is a pipe that the parent holds, and begins with the order: a parent that is killed takes the child with it, cleanly. Its
//! output goes to a log that stays locked for as long as any process of the run lives.

use std::fs::{File, OpenOptions, TryLockError};
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
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// So often the child is looked at.
const GLANCE: Duration = Duration::from_millis(10);
/// A child that was told to end at once is killed after so long.
const AT_ONCE: Duration = Duration::from_secs(20);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code; none where a signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// What it has written down, and where; none where it did not come so far.
    pub(crate) record: Option<(PathBuf, RunRecord)>,
}

/// Carries out an order and waits for its end. What it prints goes to the end of `log`. `place` marks its record,
/// and finds it again. When `interrupt` asks for the end, the run is asked too, and in the same manner.
pub(crate) fn run(
    order: &Order,
    place: &SuitePlan,
    results: &Path,
    log: &Path,
    interrupt: &Interrupt,
) -> Result<Ended> {
    let log = locked(log, interrupt)?;
    let mark = format!("{}:{}:{}:{}", place.suite, place.id, place.run, place.repetition);
    let line = serde_json::to_string(order).or_fail(Code::Start)? + "\n";
    let mut child = Command::new(own_program()?)
        .args(["run", "--until-eof", "--suite-run", &mark, "--order", "--out"])
        .arg(results)
        .stdin(Stdio::piped())
        .stdout(log.try_clone().or_fail(Code::Start)?)
        .stderr(log)
        .process_group(0)
        .spawn()
        .or_fail(Code::Start)?;
    let mut input = child.stdin.take();
    // One that is gone by now says why in its log.
    let _ = input.as_mut().map(|input| input.write_all(line.as_bytes()));
    let status = wait(&mut child, input, interrupt).or_fail(Code::Start)?;
    Ok(Ended { code: status.code(), signal: status.signal(), record: find(results, place)? })
}

/// Opens a log and locks it. The lock is the open file's, and the child has the file as its output: the lock lasts until
/// the last process of the run is gone, whatever happens to us.
fn locked(path: &Path, interrupt: &Interrupt) -> Result<File> {
    let tried = |error: &dyn std::fmt::Display| {
        Failure::new(Code::Start, format!("failed to use the log {}: {error}", path.display()))
    };
    let log = OpenOptions::new().create(true).append(true).open(path).map_err(|error| tried(&error))?;
    loop {
        match log.try_lock() {
            Ok(()) => return Ok(log),
            Err(TryLockError::WouldBlock) if !interrupt.control.is_stopping() => std::thread::sleep(GLANCE),
            Err(error) => return Err(tried(&error)),
        }
    }
}

/// Whether a process of the run with this log lives still.
pub(crate) fn lives(log: &Path) -> bool {
    File::open(log).is_ok_and(|log| matches!(log.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Waits for the child, and passes on what `interrupt` asks for. Nothing of its process group is left afterwards.
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
                // Two signals that differ: two of the same kind could arrive as one.
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
        // Mostly there is nobody left, which is an error that says just that.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    Ok(status)
}

/// The newest record of this place in `results`, and where it is.
pub(crate) fn find(results: &Path, place: &SuitePlan) -> Result<Option<(PathBuf, RunRecord)>> {
    Ok(records(results)?.find(|(_, record)| record.plan.suite.as_ref() == Some(place)))
}

/// The records in `results` and where they are, the newest first. What cannot be read is no record.
pub(crate) fn records(results: &Path) -> Result<impl Iterator<Item = (PathBuf, RunRecord)>> {
    let runs = list_runs(results).or_fail(Code::Start)?;
    Ok(runs.into_iter().rev().filter_map(|path| read_record(&path.join(RECORD)).ok().map(|record| (path, record))))
}
