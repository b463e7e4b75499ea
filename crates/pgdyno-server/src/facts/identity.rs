//! Distinguishes servers that one address may lead to: a balancer, a name with several addresses, a list of hosts.

use std::fmt;

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions};
use serde::{Deserialize, Serialize};

use crate::facts::ask::ask;

/// Connections that are opened until one leads to the server: a balancer leads to each of several in turn, or by chance.
const ATTEMPTS: u32 = 8;

/// Returns one row about the server of a session, for [`ServerIdentity::of_row`]. Needs no rights. The sessions of clients ask it, too,
/// with the `search_path` of their database: the functions are the system's.
pub const IDENTITY: &str = "SELECT pg_catalog.to_char(pg_catalog.pg_postmaster_start_time() AT TIME ZONE 'UTC', \
     'YYYY-MM-DD HH24:MI:SS.US'), pg_catalog.pg_is_in_recovery(), pg_catalog.host(pg_catalog.inet_server_addr()), \
     pg_catalog.inet_server_port()";

/// What distinguishes a server from others. A standby has the system identifier of its primary, so that its start, to the
/// microsecond, is what differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerIdentity {
    /// When it was started, in UTC.
    pub started: String,
    /// Whether it is a standby.
    pub is_standby: bool,
    /// Its own address and port; `None` for a session over a socket of the file system.
    pub address: Option<String>,
}

impl ServerIdentity {
    /// Returns the server of a session; `None` if it does not answer [`IDENTITY`].
    ///
    /// # Errors
    /// Only when the connection is lost.
    pub fn of(admin: &mut Admin) -> Result<Option<Self>, AdminError> {
        let rows = admin.promptly("which server it is", |admin| ask(admin, IDENTITY))?;
        Ok(rows.and_then(|rows| rows.rows.into_iter().next()).and_then(Self::of_row))
    }

    /// Reads the row of [`IDENTITY`].
    #[must_use]
    pub fn of_row(row: Vec<Option<String>>) -> Option<Self> {
        let [Some(started), Some(standby), host, port] = <[_; 4]>::try_from(row).ok()? else { return None };
        let address = host.zip(port).map(|(host, port)| match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        });
        Some(Self { started, is_standby: standby == "t", address })
    }

    /// Returns true if both are the same server, whichever of its addresses a session uses.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.started == other.started
    }
}

/// Opens a connection to this server, of those that `options` may lead to. If several attempts lead elsewhere, or no server
/// is given, it is a connection to any of them.
///
/// # Errors
/// See [`Admin::connect`].
pub fn connect_to(options: &ConnectOptions, server: Option<&ServerIdentity>) -> Result<Admin, ConnectError> {
    let mut admin = Admin::connect(options)?;
    let Some(server) = server else { return Ok(admin) };
    for _ in 1..ATTEMPTS {
        // A server that does not say which one it is is taken as it is.
        if ServerIdentity::of(&mut admin).ok().flatten().is_none_or(|found| found.is_same(server)) {
            break;
        }
        admin = Admin::connect(options)?;
    }
    Ok(admin)
}

/// `10.0.0.7:5432 (standby, started 2026-11-25 16:06:30 UTC)`.
impl fmt::Display for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { started, is_standby, address } = self;
        let role = if *is_standby { "standby" } else { "primary" };
        let seconds = started.split('.').next().unwrap_or(started);
        write!(f, "{} ({role}, started {seconds} UTC)", address.as_deref().unwrap_or("socket"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_its_start_and_named_by_its_address() {
        let row = |started: &str, standby: &str, host: Option<&str>| {
            let cells = [Some(started), Some(standby), host, host.map(|_| "5432")];
            ServerIdentity::of_row(cells.map(|cell| cell.map(str::to_owned)).to_vec()).unwrap()
        };
        let primary = row("2026-11-25 16:06:30.919228", "f", Some("10.0.0.7"));
        let standby = row("2026-11-25 16:06:30.919229", "t", Some("fe80::1"));
        assert!(!primary.is_same(&standby) && primary.is_same(&row(&primary.started, "f", None)));
        assert_eq!(primary.to_string(), "10.0.0.7:5432 (primary, started 2026-11-25 16:06:30 UTC)");
        assert_eq!(standby.to_string(), "[fe80::1]:5432 (standby, started 2026-11-25 16:06:30 UTC)");
        assert_eq!(ServerIdentity::of_row(vec![None, None, None, None]), None);
        assert_eq!(ServerIdentity::of_row(Vec::new()), None);
    }
}
