//! A program beside pgdyno that reports on a machine, line by line, and ends with pgdyno.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::beat::Wake;

/// Limit of a line; the rest counts as the next one.
const LONGEST_LINE: u64 = 1 << 20;

/// Time for a program to end after it has closed its output.
const GRACE: Duration = Duration::from_secs(2);

/// Limit of its error messages in characters.
const MESSAGE_CHARS: usize = 200;

/// The program. It has its own process group, so that Ctrl-C at the terminal does not end it before the run.
#[derive(Debug)]
pub(crate) struct Teller {
    child: Child,
    stdin: Option<ChildStdin>,
    /// The last line of its standard error.
    failure: Arc<Mutex<String>>,
    /// Thread that reads its standard error.
    listener: JoinHandle<()>,
}

impl Teller {
    /// Starts it. Sends each line of its standard output as [`Wake::Line`], and its end as [`Wake::Ended`]. Passes no
    /// password from the environment.
    pub(crate) fn start(command: &mut Command, wake: &Sender<Wake>) -> io::Result<Self> {
        command.process_group(0).env_remove("PGPASSWORD");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let failure = Arc::new(Mutex::new(String::new()));
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (wake, last) = (wake.clone(), Arc::clone(&failure));
        // Both threads end with the last process that holds the pipe; nothing waits for that.
        std::thread::Builder::new().name("os-metrics".to_owned()).spawn(move || {
            // If nobody receives lines any more, the program is ended, too.
            let _ = each_line(out, |line| wake.send(Wake::Line(line)).is_ok());
            let _ = wake.send(Wake::Ended);
        })?;
        let listener = std::thread::Builder::new().name("os-metrics-err".to_owned()).spawn(move || {
            let _ = each_line(err, |line| {
                if !line.trim().is_empty() {
                    *last.lock().unwrap_or_else(PoisonError::into_inner) =
                        line.trim().chars().take(MESSAGE_CHARS).collect();
                }
                true
            });
        })?;
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, failure, listener })
    }

    /// Sends it a line.
    pub(crate) fn ask(&mut self, line: &str) -> io::Result<()> {
        self.stdin.as_mut().map_or(Ok(()), |stdin| writeln!(stdin, "{line}"))
    }

    /// Returns how it ended: its status, and its last error message.
    pub(crate) fn epitaph(&mut self) -> String {
        let deadline = Instant::now() + GRACE;
        let mut status = None;
        // Its last message may still be in the pipe; a process that it started may hold its standard error open.
        while Instant::now() < deadline && (status.is_none() || !self.listener.is_finished()) {
            status = self.child.try_wait().ok().flatten();
            std::thread::sleep(Duration::from_millis(10));
        }
        let how = status.map_or_else(|| "it closed its output".to_owned(), |status: ExitStatus| status.to_string());
        let said = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_empty() { how } else { format!("{how}; it said: {said}") }
    }
}

impl Drop for Teller {
    /// Ends it with all processes that it has started.
    fn drop(&mut self) {
        // The only error is that the group has no process left.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Calls `take` with each line, until it returns false.
fn each_line(from: Option<impl Read>, mut take: impl FnMut(String) -> bool) -> io::Result<()> {
    let Some(from) = from else { return Ok(()) };
    let mut reader = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        if reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        if !take(text.trim_end_matches(['\n', '\r']).to_owned()) {
            return Ok(());
        }
    }
}
