//! Work that would block an event loop: opening connections, and commands on the driver's machine. Other threads do
//! it, so that the other clients of the thread go on.

use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{self, Stdio};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pgdyno_net::{ConnectError, ConnectOptions};
use pgdyno_poll::Waker;
use pgdyno_workload::{Note, ShellOutcome};

use crate::client::ShellCommand;
use crate::connect::Link;

/// Limit of a command's output that a script can read: pgbench's buffer.
const OUTPUT_BYTES: u64 = 64;

/// Threads that open connections, per worker.
pub(crate) const CONNECTORS: usize = 4;

/// A request for a connection.
pub(crate) struct Request {
    pub(crate) client: usize,
    /// When to give up; `None` is never.
    pub(crate) until: Option<Instant>,
}

/// The answer to it.
pub(crate) enum Answer {
    Connected { client: usize, link: Result<Box<Link>, Refused>, notes: Vec<Note>, took_ns: u64 },
    Shell { client: usize, number: u64, outcome: ShellOutcome },
}

/// Why there is no connection; empty if no time was left to try.
pub(crate) type Refused = Option<ConnectError>;

/// Serves one worker's requests for connections until the worker hangs up. `options` are those of its lines.
pub(crate) fn serve(
    options: &[&ConnectOptions],
    requests: &Mutex<Receiver<Request>>,
    answers: &Sender<Answer>,
    waker: &Waker,
) {
    loop {
        let request = requests.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Request { client, until }) = request else { return };
        // A worker asks only for lines that it has.
        let Some(options) = options.get(client) else { return };
        let begun = Instant::now();
        let mut notes = Vec::new();
        let link = match until.map(|until| until.saturating_duration_since(begun)) {
            // Earlier requests took all the time.
            Some(Duration::ZERO) => Err(None),
            Some(left) => Link::open(&options.with_connect_timeout_at_most(left), &mut notes).map_err(Some),
            None => Link::open(options, &mut notes).map_err(Some),
        };
        let (link, took_ns) = (link.map(Box::new), begun.elapsed().as_nanos() as u64);
        let answer = Answer::Connected { client, link, notes, took_ns };
        if answers.send(answer).is_err() {
            return;
        }
        waker.wake();
    }
}

/// Runs `command` in a shell, on a thread of its own.
pub(crate) fn shell(client: usize, command: ShellCommand<'_>, answers: Sender<Answer>, waker: Waker) {
    let ShellCommand { number, capture, .. } = command;
    let text = command.text.to_vec();
    let report = move |outcome| {
        // After the end of the run nobody receives the answer.
        if answers.send(Answer::Shell { client, number, outcome }).is_ok() {
            waker.wake();
        }
    };
    let done = report.clone();
    // Without a thread, the command counts as one that could not be run.
    if std::thread::Builder::new().spawn(move || done(run(&text, capture))).is_err() {
        report(ShellOutcome::default());
    }
}

fn run(command: &[u8], capture: bool) -> ShellOutcome {
    let mut shell = process::Command::new("/bin/sh");
    shell.arg0("sh").arg("-c").arg(std::ffi::OsStr::from_bytes(command));
    if !capture {
        let success = shell.status().is_ok_and(|status| status.success());
        return ShellOutcome { success, output: Some(Vec::new()) };
    }
    let Ok(mut child) = shell.stdout(Stdio::piped()).spawn() else {
        return ShellOutcome::default();
    };
    let mut output = Vec::new();
    let read = child.stdout.take().map(|out| out.take(OUTPUT_BYTES).read_to_end(&mut output));
    let success = child.wait().is_ok_and(|status| status.success());
    ShellOutcome { success, output: matches!(read, Some(Ok(_))).then_some(output) }
}
