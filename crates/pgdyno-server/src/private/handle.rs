//! pgdyno's end of the pipes to a supervisor.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::private::error::EmbeddedError;
use crate::private::instance;
use crate::private::pipe::{Event, Order, SUPERVISE, Spec};
use crate::private::programs::installation::Installation;
use crate::private::progress::StartStep;
use crate::private::server::PrivateServer;

/// Environment variables that a server may need: for its libraries, an allocator under test, the time zone files. No
/// others, because they may hold secrets, and PostgreSQL reads `PG*`.
const ENVIRONMENT: [&str; 7] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "MALLOC_CONF",
    "TZDIR",
];

/// Time limit of a supervisor's work; it has failed if it takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A supervisor that this process started.
#[derive(Debug)]
pub(crate) struct Handle {
    child: Child,
    /// Open while the server is needed. Closed on exec, so that no other child keeps it open.
    lifeline: Option<ChildStdin>,
    events: BufReader<ChildStdout>,
    dir: Option<PathBuf>,
    is_detached: bool,
    death: Option<(String, Vec<String>)>,
}

impl Handle {
    #[expect(clippy::disallowed_methods, reason = "a supervisor inherits these variables and no others")]
    pub(crate) fn spawn(program: &Path, spec: &Spec) -> Result<Self, EmbeddedError> {
        let failed = |source| EmbeddedError::Supervisor { program: program.to_owned(), source };
        let mut command = Command::new(program);
        command
            .arg0("pgdyno")
            .arg(SUPERVISE)
            .env_clear()
            .envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It survives pgdyno, and must not block a reader of pgdyno's output.
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(mut lifeline), Some(events)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let line =
            serde_json::to_string(spec).map_err(std::io::Error::from).and_then(|line| writeln!(lifeline, "{line}"));
        let handle = Self {
            child,
            lifeline: Some(lifeline),
            events: BufReader::new(events),
            dir: None,
            is_detached: false,
            death: None,
        };
        line.map_err(failed)?;
        Ok(handle)
    }

    /// Waits until the server accepts connections.
    pub(crate) fn await_ready(
        &mut self,
        installation: &Installation,
        progress: &mut dyn FnMut(StartStep),
    ) -> Result<PrivateServer, EmbeddedError> {
        let version = || installation.version.clone();
        let failed = |what, log| EmbeddedError::Start {
            version: installation.version.text.clone(),
            bindir: installation.bindir.clone(),
            what,
            log,
        };
        loop {
            match self.next_event() {
                Some(Event::Directory(dir)) => self.dir = Some(dir),
                Some(Event::Copying) => progress(StartStep::Copying),
                Some(Event::Initialising) => progress(StartStep::Initialising { version: version() }),
                Some(Event::Starting) => progress(StartStep::Starting { version: version() }),
                Some(Event::Ready(running)) => return Ok(running),
                Some(Event::Failed { what, log } | Event::Died { what, log }) => {
                    return Err(failed(what, log));
                }
                None => return Err(failed("its supervisor ended".to_owned(), self.log_tail())),
            }
        }
    }

    /// Sends an order; [`Handle::await_ready`] waits for the result.
    pub(crate) fn order(&mut self, order: &Order) -> std::io::Result<()> {
        let line = serde_json::to_string(order)?;
        match &mut self.lifeline {
            Some(lifeline) => writeln!(lifeline, "{line}"),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Returns how the server ended, and the end of its log, if it did. Does not wait.
    pub(crate) fn death(&mut self) -> Option<(String, Vec<String>)> {
        while self.death.is_none() && self.has_event() {
            self.death = match self.next_event() {
                Some(Event::Died { what, log } | Event::Failed { what, log }) => {
                    Some((format!("postgres ended ({what})"), log))
                }
                Some(_) => None,
                None => Some(("its supervisor ended".to_owned(), self.log_tail())),
            };
        }
        self.death.clone()
    }

    /// Returns true if [`Handle::next_event`] would return at once.
    fn has_event(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut fds = [PollFd::new(self.events.get_ref(), PollFlags::IN)];
        !self.events.buffer().is_empty() || poll(&mut fds, Some(&AT_ONCE)).is_ok_and(|n| n > 0)
    }

    /// Detaches from the supervisor, which lives on: the init process adopts it after this process has ended.
    pub(crate) fn detach(mut self) {
        self.is_detached = true;
    }

    /// Leaves the directory as it is, even if the supervisor does not remove it.
    pub(crate) fn forget_directory(&mut self) {
        self.dir = None;
    }

    /// Returns the last lines of the server's log.
    pub(crate) fn log_tail(&self) -> Vec<String> {
        self.dir.as_ref().map(|dir| instance::log_tail(&dir.join("server.log"))).unwrap_or_default()
    }

    fn next_event(&mut self) -> Option<Event> {
        let mut line = String::new();
        match self.events.read_line(&mut line) {
            Ok(len) if len > 0 => serde_json::from_str(&line).ok(),
            _ => None,
        }
    }
}

impl Drop for Handle {
    /// Ends the server and waits until it and its directories are gone.
    fn drop(&mut self) {
        self.lifeline = None;
        if self.is_detached {
            return;
        }
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                // Linux ends the postmaster with it; the rest is ended below.
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // Only there if the supervisor was killed.
        if let Some(dir) = self.dir.take().filter(|dir| dir.exists()) {
            instance::remove(&dir);
        }
    }
}
