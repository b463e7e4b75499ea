//! What goes over the pipes between pgdyno and the supervisor of its server, a line of JSON each: first the [`Spec`], then
//! each [`Order`], to its standard input; an [`Event`] from its standard output.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::private::account::Account;
use crate::private::programs::find::Installation;
use crate::private::server::PrivateServer;
use crate::private::sizing::Setting;

/// The argument with which a program becomes a supervisor: its `main` then calls [`supervise_main`](crate::supervise_main).
pub const SUPERVISE: &str = "__supervise";

/// What the supervisor is to start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) places_root: PathBuf,
    /// Whether the server outlives who asked for it.
    pub(crate) kept: bool,
    pub(crate) installation: Installation,
    /// Whom the server runs as, where that is somebody else.
    pub(crate) account: Option<Account>,
    /// The account that may connect through the socket.
    pub(crate) caller: String,
    pub(crate) tcp: bool,
    pub(crate) settings: Vec<Setting>,
}

/// What may be asked of a supervisor whose server runs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Kill the server, and start it again on what it leaves.
    Crash,
    /// Shut it down, and start it again: with these settings, or with those that it has.
    Restart(Option<Vec<Setting>>),
}

/// What became of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The server has this directory now.
    Directory(PathBuf),
    /// The data directory is being made.
    Initialising,
    /// The postmaster is starting.
    Starting,
    /// It accepts connections.
    Ready(PrivateServer),
    /// It did not start; its log ends so.
    Failed { what: String, log: Vec<String> },
    /// It ended although nobody asked it to; its log ends so.
    Died { what: String, log: Vec<String> },
}

/// Tells whoever listens; the starter of a kept server is long gone.
pub(crate) fn tell(event: &Event) {
    if let Ok(line) = serde_json::to_string(event) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}
