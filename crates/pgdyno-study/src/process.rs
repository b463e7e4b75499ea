//! The process of a run: its log, its signals, its time limit.
//!
//! It leads a process group, so that Ctrl-C reaches it only through its parent and no process of it is left behind. Its
//! standard input is a pipe that the parent holds open, and starts with the order: if the parent is killed, it ends cleanly. Its
//! output goes to a log that stays locked as long as any process of the run lives.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::target::own_program;
use pgdyno_net::StopLevel;
use pgdyno_untrusted::append_to_file;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::run::{Runner, StudyRun};

/// The environment variable that names the store to which a run pushes itself.
pub const STORE_VARIABLE: &str = "PGDYNO_STORE";

/// How often the process is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Time for a process to end at once before it is killed.
const AT_ONCE: Duration = Duration::from_secs(20);
/// A run that has exceeded its time limit and does not end cleanly within this is ended at once.
const GRACE: Duration = Duration::from_secs(30);

/// How a process ended.
pub(crate) struct Exit {
    pub(crate) status: ExitStatus,
    /// Whether it was ended because it exceeded its time limit.
    pub(crate) is_late: bool,
}

/// Carries out a run and waits for its end. When the user asks for the end, the run is asked to end in the same way. `on_poll`
/// is called while it goes on, with the time since it began.
pub(crate) fn carry_out(runner: &Runner<'_>, run: &StudyRun<'_>, on_poll: &dyn Fn(Duration)) -> Result<Exit> {
    let log = locked(run.log, runner.interrupt)?;
    let place = run.place;
    let mark = format!("{}:{}:{}:{}", place.suite, place.id, place.run, place.repetition);
    let line = serde_json::to_string(run.order).or_fail(Code::Start)? + "\n";
    let mut child = Command::new(own_program()?)
        .args(["run", "--until-eof", "--suite-run", &mark, "--order", "--out"])
        .arg(runner.results)
        // Not an argument, which other users of the machine could read.
        .env(STORE_VARIABLE, runner.store.unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(log.try_clone().or_fail(Code::Start)?)
        .stderr(log)
        .process_group(0)
        .spawn()
        .or_fail(Code::Start)?;
    let mut input = child.stdin.take();
    // A process that has already ended says why in its log.
    let _ = input.as_mut().map(|input| input.write_all(line.as_bytes()));
    Process { child, input, time_limit: run.time_limit, began: Instant::now(), killed_at: None }
        .wait(runner.interrupt, on_poll)
        .or_fail(Code::Start)
}

/// Opens a log and locks it. The lock belongs to the open file, which is the output of the run's process: it lasts until the last
/// process of the run has ended, whatever happens to this process.
fn locked(path: &Path, interrupt: &Interrupt) -> Result<File> {
    let tried = |error: &dyn std::fmt::Display| {
        CommandError::new(Code::Start, format!("failed to use the log {}: {error}", path.display()))
    };
    let log = append_to_file(path).map_err(|error| tried(&error))?;
    loop {
        match log.try_lock() {
            Ok(()) => return Ok(log),
            Err(TryLockError::WouldBlock) if !interrupt.stop.is_requested() => std::thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(tried(&error)),
        }
    }
}

/// Returns true if a process of the run with this log still lives.
pub(crate) fn lives(log: &Path) -> bool {
    File::open(log).is_ok_and(|log| matches!(log.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Returns what the time limit asks for, some time after the beginning.
fn level_of_limit(limit: Option<Duration>, elapsed: Duration) -> StopLevel {
    match limit {
        Some(limit) if elapsed > limit + GRACE => StopLevel::AtOnce,
        Some(limit) if elapsed > limit => StopLevel::Cleanly,
        _ => StopLevel::GoOn,
    }
}

/// A process that carries out a run.
struct Process {
    child: Child,
    /// Its end asks the process to end cleanly.
    input: Option<ChildStdin>,
    time_limit: Option<Duration>,
    began: Instant,
    /// When it was asked to end at once.
    killed_at: Option<Instant>,
}

impl Process {
    /// Waits until the process has ended. No process of its group is left afterwards.
    fn wait(mut self, interrupt: &Interrupt, on_poll: &dyn Fn(Duration)) -> std::io::Result<Exit> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let mut is_late = false;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            let (user, limit) = (interrupt.stop.level(), level_of_limit(self.time_limit, self.began.elapsed()));
            is_late |= user == StopLevel::GoOn && limit > StopLevel::GoOn;
            self.ask(user.max(limit), pid)?;
            on_poll(self.began.elapsed());
            std::thread::sleep(POLL_INTERVAL);
        };
        if let Some(pid) = pid {
            // Usually no process is left, which is the error here.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        Ok(Exit { status, is_late })
    }

    /// Asks the process to go on or to end; kills it if it does not end at once.
    fn ask(&mut self, level: StopLevel, pid: Option<Pid>) -> std::io::Result<()> {
        if level >= StopLevel::Cleanly {
            drop(self.input.take());
        }
        match (level, self.killed_at, pid) {
            (StopLevel::AtOnce, None, Some(pid)) => {
                // Two different signals: two of the same kind could arrive as one.
                for signal in [Signal::TERM, Signal::INT] {
                    let _ = kill_process(pid, signal);
                }
                self.killed_at = Some(Instant::now());
                Ok(())
            }
            (StopLevel::AtOnce, Some(since), _) if since.elapsed() > AT_ONCE => self.child.kill(),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a process of a shell that runs `script` until its input ends, or longer.
    fn process(script: &str, time_limit: Option<Duration>) -> Process {
        let mut child = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        let input = child.stdin.take();
        Process { child, input, time_limit, began: Instant::now(), killed_at: None }
    }

    #[test]
    fn the_user_and_the_time_limit_end_a_process_by_the_end_of_its_input() {
        let until_eof = "read line; exit 7";
        let interrupt = Interrupt::default();
        let late = process(until_eof, Some(Duration::from_millis(30))).wait(&interrupt, &|_| ()).unwrap();
        assert_eq!((late.status.code(), late.is_late), (Some(7), true));
        let stop = |elapsed| {
            if elapsed > Duration::from_millis(30) {
                interrupt.stop.cleanly();
            }
        };
        let stopped = process(until_eof, Some(Duration::from_secs(60))).wait(&interrupt, &stop).unwrap();
        assert_eq!((stopped.status.code(), stopped.is_late), (Some(7), false));
    }

    #[test]
    fn a_process_that_is_to_end_at_once_gets_a_signal() {
        let interrupt = Interrupt::default();
        interrupt.stop.at_once();
        let killed = process("sleep 60; exit 7", None).wait(&interrupt, &|_| ()).unwrap();
        assert!(killed.status.code().is_none() && !killed.is_late);
    }

    #[test]
    fn a_time_limit_asks_cleanly_first_and_then_at_once() {
        let limit = Some(Duration::from_secs(5));
        let asked = [4, 6, 36].map(|seconds| level_of_limit(limit, Duration::from_secs(seconds)));
        assert_eq!(asked, [StopLevel::GoOn, StopLevel::Cleanly, StopLevel::AtOnce]);
        assert_eq!(level_of_limit(None, Duration::from_secs(3600)), StopLevel::GoOn);
    }
}
