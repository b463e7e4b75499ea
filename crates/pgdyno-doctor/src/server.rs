//! A server: its settings, what others do there, the way to it, and what this role may see.

mod ask;
mod catalog;
mod commit;
mod connection;
mod extensions;
mod in_time;
mod read_only;
mod replication;
mod rights;
mod room;
mod round_trip;
mod sessions;
mod settings;
mod tables;
mod time_limits;

use pgdyno_net::{Admin, AdminError, ConnectOptions};

use crate::examination::Examined;
use in_time::Session;

/// Examines the server that `admin` is connected to by `options`. `description` says what it is. Takes about two seconds,
/// and at most ten for each check: one that hangs is a finding, and the others still run.
///
/// # Errors
/// When the connection is lost. What a role may not see is reported as a finding.
pub fn examine(admin: &mut Admin, options: &ConnectOptions, description: String) -> Result<Examined, AdminError> {
    let facts = pgdyno_server::facts(admin, options)?;
    let caps = pgdyno_server::capabilities(admin, options)?;
    let mut session = Session { admin, options };
    let mut trips = None;
    let mut found = session.check("round-trip", |admin| {
        let (finding, times) = round_trip::check(admin, facts.is_local)?;
        trips = Some(times);
        Ok([finding])
    })?;
    found.extend(connection::check(&facts, &caps));
    found.extend(read_only::check(&caps));
    if let Some(trips) = trips {
        found.extend(session.check("commit", |admin| commit::check(admin, &facts, &trips))?);
    }
    found.extend(session.check("settings", |admin| settings::check(admin, &facts))?);
    found.extend(time_limits::check(&facts));
    found.extend(session.check("other-sessions", sessions::check)?);
    found.extend(session.check("connections", room::check)?);
    found.extend(session.check("tables", tables::check)?);
    found.extend(session.check("catalog", catalog::check)?);
    found.extend(session.check("extensions", |admin| extensions::check(admin, &facts))?);
    found.extend(session.check("rights", |admin| rights::check(admin, &facts))?);
    found.extend(session.check("replication", |admin| replication::check(admin, &facts))?);
    Ok(Examined { name: "server", description, findings: found })
}
