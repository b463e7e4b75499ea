//! Messages between pgdyno and the supervisor of its server, a line of JSON each: first the [`Spec`], then each
//! [`Order`], to its standard input; an [`Event`] from its standard output.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::private::account::Account;
use crate::private::programs::installation::Installation;
use crate::private::server::PrivateServer;
use crate::private::sizing::Setting;

/// The argument that makes a program a supervisor: its `main` then calls [`supervise_main`](crate::supervise_main).
pub const SUPERVISE: &str = "__supervise";

/// The server to start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) places_root: PathBuf,
    /// Whether the server outlives the process that starts it.
    pub(crate) kept: bool,
    pub(crate) installation: Installation,
    /// Account of the server, if it is another one.
    pub(crate) account: Option<Account>,
    /// The account that may connect through the socket.
    pub(crate) caller: String,
    pub(crate) tcp: bool,
    pub(crate) settings: Vec<Setting>,
    /// Whether standbys may read its WAL.
    pub(crate) is_paired: bool,
    /// Whether it keeps what unsynced writes overwrite, for a simulated loss of power.
    pub(crate) journals_writes: bool,
    /// Whether it begins as a standby, by its settings.
    pub(crate) is_standby: bool,
    /// A data directory of the same build, of which it gets a copy. Without one, or if it cannot be copied, it is empty.
    pub(crate) data: Option<PathBuf>,
}

/// An order to a supervisor whose server runs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Kill the server, and start it again on the remaining data.
    Crash,
    /// Shut it down without a checkpoint, and start it again.
    RestartImmediately,
    /// Count all that it has written as synced. It goes on.
    MarkSynced,
    /// Kill it, undo what it has not synced, and start it again.
    LosePower,
    /// Shut it down, and start it again: with these settings, or with the present ones.
    Restart(Option<Vec<Setting>>),
    /// Shut it down, copy its data directory to this place, and start it again.
    CopyTo(PathBuf),
    /// Shut it down, and start it on this data directory, which becomes its own.
    Adopt(PathBuf),
}

/// An event of the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The server has this directory.
    Directory(PathBuf),
    /// Data that is kept is being copied.
    Copying,
    /// The data directory is being created.
    Initialising,
    /// The postmaster is starting.
    Starting,
    /// It accepts connections.
    Ready(PrivateServer),
    /// It did not start; the end of its log.
    Failed { what: String, log: Vec<String> },
    /// It ended without a request; the end of its log.
    Died { what: String, log: Vec<String> },
}

/// Sends an event, if anybody listens; the starter of a kept server may have ended.
#[expect(
    clippy::disallowed_methods,
    reason = "standard output of a supervisor is the pipe to the program that started it"
)]
pub(crate) fn report(event: &Event) {
    if let Ok(line) = serde_json::to_string(event) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}
