//! The private server that is kept between runs: `pgdyno server start`, `stop` and `status`.
//!
//! The same server under the same supervisor, which does not end with pgdyno. SIGTERM ends it, as when the machine
//! shuts down, and it keeps its data; `stop` removes the data unless asked to keep them. A lock shows whether it
//! runs, a file has its address; a file without the lock is stale.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgdyno_net::Secret;
use rustix::process::Signal;

use crate::private::error::{EmbeddedError, log_text};
use crate::private::handle::Handle;
use crate::private::instance;
use crate::private::places::Places;
use crate::private::prepare::{Prepared, PrivateServerOptions, PrivateServerWarning, prepare};
use crate::private::programs::want::Want;
use crate::private::progress::StartStep;
use crate::private::server::PrivateServer;
use crate::process;

const STATE: &str = "state.json";

/// Time limit of a shutdown with its checkpoint and the start after it.
const RESTART_PATIENCE: Duration = Duration::from_secs(300);

/// Errors of commands for the kept server.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// It is running.
    #[error(
        "a private server is already running (PostgreSQL {version}, process {pid}); \
         use it, or stop it with 'pgdyno server stop'"
    )]
    RunsAlready {
        /// Its version.
        version: String,
        /// The process id of its postmaster.
        pid: i32,
    },
    /// Another pgdyno is starting or stopping it.
    #[error("the private server is being started or stopped; try again in a moment")]
    Busy,
    /// It is not running.
    #[error("no private server is running; 'pgdyno server start' starts one")]
    NotRunning,
    /// It does not end.
    #[error("the private server (supervisor process {pid}) did not end within {waited_s} s")]
    StaysUp {
        /// The process id of its supervisor.
        pid: i32,
        /// How long it waited, in seconds.
        waited_s: u64,
    },
    /// It did not start with its new settings, and runs with the old ones.
    #[error("the private server did not restart with its new settings, and runs with the previous ones: {what}{}", log_text(.log))]
    Refused {
        /// The cause.
        what: String,
        /// The end of its log at that time.
        log: Vec<String>,
    },
    /// It did not start again.
    #[error("the private server ended while it was being restarted; its log is {}", .log.display())]
    Lost {
        /// Its log.
        log: PathBuf,
    },
    /// It does not start.
    #[error(transparent)]
    Start(#[from] EmbeddedError),
    /// Its files cannot be read or removed.
    #[error("cannot use {}", .path.display())]
    Files {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// State of the kept server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptServerStatus {
    /// It is not running, and has no data.
    Absent,
    /// It is not running, and has data of this size in bytes: kept by `stop`, or left by a machine that shut down.
    /// `start` continues with them.
    Stopped {
        /// The size of its data directory.
        data_bytes: u64,
        /// Whether it ended without a request.
        crashed: bool,
    },
    /// It is starting or stopping.
    Busy,
    /// It runs.
    Running(PrivateServer),
}

/// The kept server after its start.
#[derive(Debug)]
pub struct Started {
    /// What it is and how to connect.
    pub server: PrivateServer,
    /// The superuser's password for TCP, if TCP was asked for. It is stored nowhere.
    pub password: Option<Secret>,
    /// Warnings about its figures.
    pub warnings: Vec<PrivateServerWarning>,
}

/// Returns the state of the kept server. Does not query it.
///
/// # Errors
/// When its files cannot be read.
pub fn status(places: &Places) -> Result<KeptServerStatus, KeptError> {
    let dir = places.kept();
    if !dir.is_dir() {
        return Ok(KeptServerStatus::Absent);
    }
    places.require_own(&dir).map_err(|source| KeptError::Files { path: dir.clone(), source })?;
    let state = read_state(&dir);
    // Held only for a moment; a concurrent start sees that it is busy.
    let lock = instance::try_lock_kept(places).map_err(|source| KeptError::Files { path: dir.clone(), source })?;
    Ok(match (lock, state) {
        (None, Some(server)) => KeptServerStatus::Running(server),
        (None, None) => KeptServerStatus::Busy,
        (Some(_), state) => {
            let data = dir.join("data");
            if data.is_dir() {
                KeptServerStatus::Stopped { data_bytes: instance::size_of_tree(&data), crashed: state.is_some() }
            } else {
                KeptServerStatus::Absent
            }
        }
    })
}

/// Starts it, and waits until it accepts connections. Continues with kept data.
///
/// # Errors
/// When it is running already, and all errors of [`Embedded::start`](crate::Embedded::start).
pub fn start(
    want: &Want,
    options: &PrivateServerOptions,
    progress: &mut dyn FnMut(StartStep),
) -> Result<Started, KeptError> {
    match status(&options.places)? {
        KeptServerStatus::Running(server) => {
            return Err(KeptError::RunsAlready {
                version: server.installation.version.text,
                pid: server.postmaster_pid,
            });
        }
        KeptServerStatus::Busy => return Err(KeptError::Busy),
        KeptServerStatus::Absent | KeptServerStatus::Stopped { .. } => {}
    }
    let Prepared { spec, warnings, .. } = prepare(want, options, true, progress)?;
    let mut handle = Handle::spawn(&options.supervisor, &spec)?;
    let server = match handle.await_ready(&spec.installation, progress) {
        Ok(server) => server,
        Err(error) => {
            // The directory may have the data of earlier runs.
            handle.forget_directory();
            return Err(error.into());
        }
    };
    handle.detach();
    let password = if options.tcp {
        Some(server.set_password().map_err(|error| {
            process::send(server.supervisor_pid, Signal::TERM);
            EmbeddedError::from(error)
        })?)
    } else {
        None
    };
    Ok(Started { server, password, warnings })
}

/// Shuts it down cleanly and starts it again on its data, and waits until it accepts connections at the same address.
/// Settings of ALTER SYSTEM take effect then.
///
/// # Errors
/// When it is not running, does not start with its settings (then it runs with the old ones), or does not start
/// again.
pub fn restart(places: &Places) -> Result<PrivateServer, KeptError> {
    let KeptServerStatus::Running(before) = status(places)? else { return Err(KeptError::NotRunning) };
    process::send(before.supervisor_pid, Signal::USR1);
    let deadline = Instant::now() + RESTART_PATIENCE;
    loop {
        match status(places)? {
            KeptServerStatus::Running(now) if now.postmaster_pid != before.postmaster_pid => {
                return match now.refused {
                    None => Ok(now),
                    Some(refused) => Err(KeptError::Refused { what: refused.what, log: refused.log }),
                };
            }
            KeptServerStatus::Running(_) | KeptServerStatus::Busy if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10));
            }
            KeptServerStatus::Running(_) | KeptServerStatus::Busy => {
                let waited_s = RESTART_PATIENCE.as_secs();
                return Err(KeptError::StaysUp { pid: before.supervisor_pid, waited_s });
            }
            KeptServerStatus::Absent | KeptServerStatus::Stopped { .. } => {
                return Err(KeptError::Lost { log: places.kept().join("server.log") });
            }
        }
    }
}

/// Ends it, and waits until it has ended. Removes its data unless `keep_data`.
///
/// # Errors
/// When it is not running and has no data to remove, or when it does not end.
pub fn stop(places: &Places, keep_data: bool) -> Result<(), KeptError> {
    let pid = match status(places)? {
        KeptServerStatus::Running(server) => {
            let pid = server.supervisor_pid;
            // A checkpoint is written only for data that will be used again.
            process::send(pid, if keep_data { Signal::TERM } else { Signal::QUIT });
            pid
        }
        KeptServerStatus::Busy => return Err(KeptError::Busy),
        KeptServerStatus::Absent => return Err(KeptError::NotRunning),
        KeptServerStatus::Stopped { .. } if keep_data => return Err(KeptError::NotRunning),
        KeptServerStatus::Stopped { .. } => 0,
    };
    const PATIENCE: Duration = Duration::from_secs(150);
    let deadline = Instant::now() + PATIENCE;
    let files = |source| KeptError::Files { path: places.kept(), source };
    let lock = loop {
        if let Some(lock) = instance::try_lock_kept(places).map_err(files)? {
            break lock;
        }
        if Instant::now() > deadline {
            return Err(KeptError::StaysUp { pid, waited_s: PATIENCE.as_secs() });
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    if !keep_data {
        instance::remove(&places.kept());
    }
    drop(lock);
    Ok(())
}

/// Writes the server's address as a whole or not at all, and for its owner only.
pub(crate) fn write_state(dir: &Path, server: &PrivateServer) -> io::Result<()> {
    let unfinished = dir.join("state.new");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(serde_json::to_string_pretty(server)?.as_bytes())?;
    std::fs::rename(unfinished, dir.join(STATE))
}

/// Notes that the server ended on request.
pub(crate) fn remove_state(dir: &Path) {
    // If the file stays, the missing lock shows that it is stale.
    let _ = std::fs::remove_file(dir.join(STATE));
}

fn read_state(dir: &Path) -> Option<PrivateServer> {
    serde_json::from_str(&std::fs::read_to_string(dir.join(STATE)).ok()?).ok()
}
