//! Suites without a terminal: starts, follows and ends them.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::process::{Command, Stdio};
use std::time::Duration;

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::target::own_program;
use rustix::process::{Pid, Signal, kill_process};

use super::execution::SuiteExecution;
use super::view::View;
use crate::process::STORE_VARIABLE;

use pgdyno_untrusted::append_to_file;

/// How often the log is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Starts a process that resumes an execution, and returns its process id once it holds the lock. Its runs are pushed to
/// `store`, if there is one.
pub fn start(execution: &SuiteExecution, store: Option<&str>) -> Result<u32> {
    let log = append_to_file(&execution.log()).or_fail(Code::Start)?;
    let log_bytes_before = log.metadata().map_or(0, |log| log.len());
    let mut child = Command::new(own_program()?)
        .args(["suite", "resume", "--detached"])
        .arg(&execution.dir)
        .env(STORE_VARIABLE, store.unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(log.try_clone().or_fail(Code::Start)?)
        .stderr(log)
        .spawn()
        .or_fail(Code::Start)?;
    let pid = child.id();
    loop {
        if execution.holder().is_some_and(|holder| holder.cast_unsigned() == pid) {
            return Ok(pid);
        }
        if let Some(status) = child.try_wait().or_fail(Code::Start)? {
            // It may have ended already; then its messages are in its log.
            let output = log_since(execution, log_bytes_before);
            let code = status.code().and_then(Code::of_number);
            return match code {
                Some(Code::Success | Code::Run) => Ok(pid),
                _ => Err(CommandError::new(Code::Start, format!("the suite did not start:\n{}", output.trim_end()))),
            };
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn log_since(execution: &SuiteExecution, offset: u64) -> String {
    let mut text = Vec::new();
    let read = File::open(execution.log()).and_then(|mut log| {
        log.seek(SeekFrom::Start(offset))?;
        log.read_to_end(&mut text)
    });
    read.map_or_else(|error| error.to_string(), |_| String::from_utf8_lossy(&text).into_owned())
}

/// Prints the log of the suite from its start until it ends. `print` writes to standard output.
pub fn attach(execution: &SuiteExecution, events: &dyn EventSink, print: &dyn Fn(&str) -> Result<()>) -> Result<()> {
    let view = View::new(events, execution, true);
    let mut offset = 0;
    loop {
        // Text that is written between the two calls is read in the next round, or was written before the suite ended.
        let lives = execution.lives();
        let text = log_since(execution, offset);
        offset += text.len() as u64;
        if !text.is_empty() {
            events.ended();
            print(&text)?;
        }
        if !lives {
            events.ended();
            return Ok(());
        }
        if let Ok(now) = SuiteExecution::open(&execution.dir)
            && let Some(nth) = now.state.current
        {
            view.show(&now.state, nth, &now.run_log(nth), now.state.worked_s, None);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Asks the suite to end, `now` or cleanly, and waits until it has.
pub fn stop(execution: &SuiteExecution, now: bool) -> Result<()> {
    let name = execution.state.name();
    let Some(pid) = execution.holder().and_then(Pid::from_raw) else {
        return Err(CommandError::new(Code::Start, format!("suite {name} is not running")));
    };
    // Two different signals: two of the same kind could arrive as one.
    let signals: &[Signal] = if now { &[Signal::TERM, Signal::INT] } else { &[Signal::TERM] };
    for signal in signals {
        kill_process(pid, *signal).or_fail(Code::Start)?;
    }
    while execution.lives() {
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}
