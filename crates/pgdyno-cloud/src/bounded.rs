//! Runs a command of others, such as a cloud's command line: its output is bounded, its time too, and its arguments are words,
//! never the text of a shell.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Bytes of the output of a command that are read.
pub(crate) const OUTPUT_MAX: u64 = 16 << 20;
/// What ssh ends with where it has no connection.
const SSH_BROKEN: i32 = 255;
/// The time that a command has to end by itself.
const END_WITHIN: Duration = Duration::from_secs(5);
/// The time after its end in which its output must be complete.
const OUTPUT_WITHIN: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// What a command has printed.
pub(crate) struct Printed {
    pub(crate) is_success: bool,
    /// It ended as ssh does without a connection.
    pub(crate) is_broken: bool,
    pub(crate) stdout: Vec<u8>,
    /// The last line of its standard error.
    pub(crate) said: String,
}

/// Runs a command to its end, or for at most `limit`: then its process group is ended.
///
/// # Errors
/// When it cannot be started, takes too long, or prints too much.
pub(crate) fn run(mut command: Command, limit: Duration) -> io::Result<Printed> {
    let mut child =
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().map(read_in_background);
    let stderr = child.stderr.take().map(read_in_background);
    let until = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > until {
            end(&mut child)?;
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("it took longer than {} s", limit.as_secs())));
        }
        thread::sleep(POLL_INTERVAL);
    };
    // What it has started may go on, and keep its output open.
    let until = Instant::now() + OUTPUT_WITHIN;
    let (stdout, stderr) = (printed(stdout, until)?, printed(stderr, until)?);
    if stdout.len() as u64 > OUTPUT_MAX {
        return Err(io::Error::other(format!("it printed more than {} MiB", OUTPUT_MAX >> 20)));
    }
    let stderr = String::from_utf8_lossy(&stderr);
    let said = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(Printed {
        is_success: status.success(),
        is_broken: status.code() == Some(SSH_BROKEN),
        stdout,
        said: said.trim().chars().take(500).collect(),
    })
}

/// Ends a command and what it has started: after some seconds even if it does not want to.
fn end(child: &mut Child) -> io::Result<()> {
    let group = Pid::from_raw(child.id().cast_signed());
    // They may have ended meanwhile.
    let send = |signal| {
        let _ = group.map(|group| kill_process_group(group, signal));
    };
    send(Signal::TERM);
    let began = Instant::now();
    while began.elapsed() < END_WITHIN && child.try_wait()?.is_none() {
        thread::sleep(POLL_INTERVAL);
    }
    send(Signal::KILL);
    child.wait().map(drop)
}

/// Returns what a command printed that has ended.
fn printed(reader: Option<thread::JoinHandle<Vec<u8>>>, until: Instant) -> io::Result<Vec<u8>> {
    let Some(reader) = reader else { return Ok(Vec::new()) };
    while !reader.is_finished() {
        if Instant::now() > until {
            let what = "it has ended, and a program that it started keeps its output open";
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(reader.join().unwrap_or_default())
}

/// Keeps one byte more than is allowed and discards the rest, so that the program does not block on a full pipe.
fn read_in_background(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is what there is.
        let _ = pipe.by_ref().take(OUTPUT_MAX + 1).read_to_end(&mut bytes);
        let _ = io::copy(&mut pipe, &mut io::sink());
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_time_are_bounded() {
        let printed = run(shell("echo '[]'; echo first >&2; echo last >&2; exit 3"), Duration::from_secs(10)).unwrap();
        assert_eq!((printed.is_success, printed.stdout, printed.said), (false, b"[]\n".to_vec(), "last".to_owned()));
        assert!(run(shell("head -c 20000000 /dev/zero"), Duration::from_secs(20)).is_err());
        let began = Instant::now();
        assert!(run(shell("sleep 30 & wait"), Duration::from_millis(300)).is_err());
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(
            run(shell("trap '' TERM; sleep 60 & wait; sleep 60"), Duration::from_millis(300)).is_err(),
            "it is killed"
        );
    }
}
