//! Returns whether sessions of the server outlive this program's connections, as they do behind a pooler.
//!
//! Pgpool-II passes on the cancel key of the backend, so the key shows nothing. But the backend that serves a new connection
//! may be older than the connection, and it stays when the connection is closed.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, quote};

use crate::facts::ask::{ask, first};
use crate::facts::identity::ServerIdentity;

/// Time for the backend of a closed connection to end: one that is served directly needs milliseconds, more on a busy machine.
const ENDING: Duration = Duration::from_secs(2);
/// Time between two looks at it.
const PAUSE: Duration = Duration::from_millis(20);
/// Connections that are opened until one leads to the same server: a balancer may lead to several.
const ATTEMPTS: u32 = 8;

/// Returns true if sessions of the server that `admin` is connected to by `options` outlive connections. If the server
/// sees this end of `admin`, nothing in between can be a pooler. Otherwise one more connection is opened and closed.
///
/// # Errors
/// When `admin` is lost.
pub(crate) fn outlives(admin: &mut Admin, options: &ConnectOptions) -> Result<bool, AdminError> {
    admin.promptly("whether a pooler is in between", |admin| {
        if is_direct(admin)? {
            return Ok(false);
        }
        let Some(server) = ServerIdentity::of(admin)? else { return Ok(false) };
        for _ in 0..ATTEMPTS {
            // Times of one server's clock only are compared.
            let Some(before) = first(ask(admin, "SELECT clock_timestamp()")?) else { return Ok(false) };
            let Ok(mut other) = Admin::connect(options) else { return Ok(false) };
            let Ok(Some(theirs)) = ServerIdentity::of(&mut other) else { return Ok(false) };
            if !theirs.is_same(&server) {
                continue;
            }
            let Ok(Some(backend)) = Backend::of(&mut other, &before) else { return Ok(false) };
            drop(other);
            return if backend.is_older { Ok(true) } else { backend.remains(admin) };
        }
        Ok(false)
    })
}

/// Returns true if the server sees this end of the connection.
fn is_direct(admin: &mut Admin) -> Result<bool, AdminError> {
    let Some(ours) = admin.local_addr() else { return Ok(false) };
    let seen = first(ask(admin, "SELECT host(inet_client_addr()) || ' ' || inet_client_port()")?);
    let seen = seen.as_deref().and_then(|seen| seen.split_once(' '));
    Ok(seen.is_some_and(|(address, port)| {
        address.parse() == Ok(ours.ip().to_canonical()) && port.parse() == Ok(ours.port())
    }))
}

/// The backend of a connection.
struct Backend {
    pid: i32,
    started: String,
    /// Whether it was started before the connection was opened.
    is_older: bool,
}

impl Backend {
    fn of(admin: &mut Admin, before: &str) -> Result<Option<Self>, AdminError> {
        let sql = format!(
            "SELECT pid, backend_start, backend_start < {} FROM pg_stat_get_activity(pg_backend_pid())",
            quote::literal(before)
        );
        let row = ask(admin, &sql)?.and_then(|rows| rows.rows.into_iter().next()).unwrap_or_default();
        let [Some(pid), Some(started), Some(is_older)] = <[_; 3]>::try_from(row).unwrap_or_default() else {
            return Ok(None);
        };
        Ok(pid.parse().ok().map(|pid| Self { pid, started, is_older: is_older == "t" }))
    }

    /// Returns true if it is still there a while after its connection was closed.
    fn remains(&self, admin: &mut Admin) -> Result<bool, AdminError> {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_get_activity({}) WHERE backend_start = {}",
            self.pid,
            quote::literal(&self.started)
        );
        let until = Instant::now() + ENDING;
        loop {
            if first(ask(admin, &sql)?).as_deref() != Some("1") {
                return Ok(false);
            }
            if Instant::now() > until {
                return Ok(true);
            }
            std::thread::sleep(PAUSE);
        }
    }
}
