//! Agents that a run starts by ssh, for itself, and takes away.
//!
//! A machine that has this very program runs it; another one of the same kind gets a copy for the time of the run, in a
//! directory of its own. The session's standard input stays open: when it ends, however that happens, so does the agent,
//! and the copy is removed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pgdyno_net::ConnectOptions;
use pgdyno_text::hex;
use pgdyno_untrusted::ShellWord;
use sha2::{Digest as _, Sha256};

use super::PROGRAM;
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::target::own_program;

/// How long released agents may take to end before their sessions are closed.
const ENDING: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Prints the kind of the machine, then path, SHA-256 and version of the program there, if there is one.
const LOOK: &str =
    "uname -sm; p=$(command -v pgdyno) && { echo \"$p\"; sha256sum <\"$p\" | cut -c1-64; \"$p\" --version; }";

/// Returns a word that no other run has.
pub(super) fn word() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("run-{:x}-{:x}", std::process::id(), now.as_nanos() & 0xffff_ffff)
}

/// The program, as machines are compared with it.
struct Own {
    bytes: u64,
    sha256: String,
    /// As `uname -sm` prints it.
    kind: String,
}

/// Agents of this run on other machines. Dropping it waits for their end.
pub(super) struct Started {
    sessions: Vec<Session>,
}

/// One session of ssh.
struct Session {
    machine: String,
    child: Child,
    /// Ends the agent when it is closed.
    input: Option<ChildStdin>,
    /// What it has said last.
    said: Arc<Mutex<String>>,
}

impl Started {
    /// Starts an agent on each machine, which joins the meeting at `meet` for the run with this word, and which may do what
    /// `allowing` says.
    ///
    /// # Errors
    /// When a machine cannot be reached, or cannot run this program.
    pub(super) fn start(
        machines: &[String],
        meet: &ConnectOptions,
        word: &str,
        allowing: &[String],
        events: &dyn EventSink,
    ) -> Result<Self> {
        let own = Own::read()?;
        // Without passwords: the machine has its own.
        let allowing: String = allowing.iter().map(|option| format!(" {}", ShellWord(option))).collect();
        let meet = meet.to_string();
        let agent = format!("agent --meet {} --once --until-eof --reserved {word}{allowing}", ShellWord(&meet));
        let mut sessions = Vec::new();
        for machine in machines {
            let program = own.on(&SshMachine::of_user(machine))?;
            events.note(&match &program {
                Some(path) => format!("starting an agent on {machine}: {path}"),
                None => format!("starting an agent on {machine}, with a copy of this program"),
            });
            sessions.push(Session::open(machine, &own, program.as_deref(), &agent)?);
        }
        Ok(Self { sessions })
    }

    /// Returns the failure of a session that has ended although nobody has ended it.
    pub(super) fn failure(&mut self) -> Option<CommandError> {
        self.sessions.iter_mut().find_map(|session| {
            let status = session.child.try_wait().ok().flatten()?;
            let said = session.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let why = if said.is_empty() { status.to_string() } else { said };
            let machine = &session.machine;
            Some(
                CommandError::new(Code::Start, format!("the agent on {machine} has ended: {why}")).hint(
                    "each machine needs the meeting database at the address of --meet, and its own password for it",
                ),
            )
        })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let until = Instant::now() + ENDING;
        for session in &mut self.sessions {
            while Instant::now() < until && matches!(session.child.try_wait(), Ok(None)) {
                std::thread::sleep(POLL_INTERVAL);
            }
            // The end of its input ends one that goes on.
            drop(session.input.take());
        }
        let until = Instant::now() + ENDING;
        for session in &mut self.sessions {
            while Instant::now() < until && matches!(session.child.try_wait(), Ok(None)) {
                std::thread::sleep(POLL_INTERVAL);
            }
            // One that has ended cannot be killed, which is the error here.
            let _ = session.child.kill();
            let _ = session.child.wait();
        }
    }
}

impl Own {
    fn read() -> Result<Self> {
        let mut sha = Sha256::new();
        let bytes = io::copy(&mut File::open(own_program()?).or_fail(Code::Start)?, &mut Hashed(&mut sha));
        let system = rustix::system::uname();
        let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
        Ok(Self {
            bytes: bytes.or_fail(Code::Start)?,
            sha256: hex(&sha.finalize()),
            kind: format!("{} {}", text(system.sysname()), text(system.machine())),
        })
    }

    /// Returns the path of the program on a machine; `None` if it is to be copied there.
    fn on(&self, machine: &SshMachine) -> Result<Option<String>> {
        let looked = machine.command(LOOK).stdin(Stdio::null()).output().map_err(|error| no_ssh(&error))?;
        let machine = machine.destination.as_str();
        let text = String::from_utf8_lossy(&looked.stdout).into_owned();
        let mut lines = text.lines();
        let Some(kind) = lines.next() else {
            let said = String::from_utf8_lossy(&looked.stderr);
            let said = said.lines().last().unwrap_or("ssh says nothing");
            let error = format!("failed to reach {machine} by ssh: {said}");
            let hint = format!("`ssh {machine} true` must work without a question: keys, known_hosts, ~/.ssh/config");
            return Err(CommandError::new(Code::Start, error).hint(hint));
        };
        match (lines.next(), lines.next(), lines.next()) {
            (Some(path), Some(sha256), _) if sha256 == self.sha256 => Ok(Some(path.to_owned())),
            _ if kind == self.kind => Ok(None),
            (Some(path), _, Some(version)) if version == format!("pgdyno {PROGRAM}") => Ok(Some(path.to_owned())),
            _ => {
                let error = format!("{machine} is {kind}, and this program is for {}", self.kind);
                Err(CommandError::new(Code::Start, error)
                    .hint(format!("install pgdyno {PROGRAM} there, in the PATH of ssh")))
            }
        }
    }
}

impl Session {
    /// Runs the program with the arguments `agent`, or a copy of this program if the machine has none.
    fn open(machine: &str, own: &Own, program: Option<&str>, agent: &str) -> Result<Self> {
        let script = match program {
            Some(path) => format!("exec {} {agent}", ShellWord(path)),
            None => format!(
                "d=$(mktemp -d) || exit; trap 'rm -rf \"$d\"' EXIT; trap 'exit 1' HUP INT TERM; head -c {} >\"$d/pgdyno\"
                 [ \"$(sha256sum <\"$d/pgdyno\" | cut -c1-64)\" = {} ] || {{ echo 'the copy of the program is damaged' >&2; exit 1; }}
                 chmod 755 \"$d/pgdyno\" && \"$d/pgdyno\" {agent}",
                own.bytes, own.sha256
            ),
        };
        let mut child = SshMachine::of_user(machine)
            .command(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| no_ssh(&error))?;
        let said = Arc::new(Mutex::new(String::new()));
        if let Some(stderr) = child.stderr.take() {
            let received = Arc::clone(&said);
            std::thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(io::Result::ok) {
                    // Causes and hints are indented.
                    if !line.starts_with("  ") {
                        *received.lock().unwrap_or_else(PoisonError::into_inner) = line;
                    }
                }
            });
        }
        let mut input = child.stdin.take();
        let sent = match (&mut input, program) {
            (Some(input), None) => {
                File::open(own_program()?).and_then(|mut file| io::copy(&mut file, input)).and_then(|_| input.flush())
            }
            _ => Ok(()),
        };
        let session = Self { machine: machine.to_owned(), child, input, said };
        match sent {
            // Where the machine has refused it, the session says why.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CommandError::new(Code::Start, format!("failed to copy this program to {machine}: {error}")))
            }
            _ => Ok(session),
        }
    }
}

/// Hashes what is written to it.
struct Hashed<'a>(&'a mut Sha256);

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A machine that is reached by ssh, without questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshMachine {
    /// `user@host`, or a name in the user's configuration of ssh.
    pub destination: String,
    /// Further options of ssh.
    pub options: Vec<String>,
}

impl SshMachine {
    /// Returns a machine as the user's configuration of ssh has it.
    fn of_user(destination: &str) -> Self {
        Self { destination: destination.to_owned(), options: Vec::new() }
    }

    /// Returns a command on the machine. It leads a process group: Ctrl-C is this program's, which ends what it has started.
    #[must_use]
    pub fn command(&self, script: &str) -> Command {
        let mut command = Command::new("ssh");
        command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]).args(&self.options);
        // Whatever shell the account has, this is one for sh.
        command.arg("--").arg(&self.destination).arg(format!("exec sh -c {}", ShellWord(script))).process_group(0);
        command
    }

    /// Puts this program at `path` on the machine, unless it is there. The file is whole, or not there.
    ///
    /// # Errors
    /// When the machine cannot be reached, or cannot run this program.
    pub fn install(&self, path: &str) -> Result<()> {
        let own = Own::read()?;
        let (path, bytes, sha256) = (ShellWord(path), own.bytes, &own.sha256);
        let look =
            format!("[ \"$(sha256sum <{path} | cut -c1-64)\" = {sha256} ] 2>/dev/null && exit; uname -sm; exit 3");
        let looked = self.command(&look).stdin(Stdio::null()).output().map_err(|error| no_ssh(&error))?;
        let failed = |said: &[u8]| {
            let said = String::from_utf8_lossy(said);
            let said = said.lines().last().unwrap_or("ssh says nothing").to_owned();
            CommandError::new(Code::Start, format!("failed to copy this program to {}: {said}", self.destination))
        };
        match looked.status.code() {
            Some(0) => return Ok(()),
            Some(3) => {}
            _ => return Err(failed(&looked.stderr)),
        }
        let kind = String::from_utf8_lossy(&looked.stdout).trim().to_owned();
        if kind != own.kind {
            let error = format!("{} is {kind}, and this program is for {}", self.destination, own.kind);
            return Err(CommandError::new(Code::Start, error).hint("take a driver of this machine's kind"));
        }
        let script = format!(
            "head -c {bytes} >{path}.part && [ \"$(sha256sum <{path}.part | cut -c1-64)\" = {sha256} ] &&
             chmod 755 {path}.part && mv {path}.part {path}"
        );
        let file = File::open(own_program()?).or_fail(Code::Start)?;
        let copied = self.command(&script).stdin(file).output().map_err(|error| no_ssh(&error))?;
        if copied.status.success() { Ok(()) } else { Err(failed(&copied.stderr)) }
    }
}

fn no_ssh(error: &io::Error) -> CommandError {
    CommandError::new(Code::Start, format!("failed to start ssh: {error}")).hint("install OpenSSH's client")
}
