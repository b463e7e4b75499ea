//! A server: its settings, what others do there, the way to it, and what this role may see.

mod ask;
mod catalog;
mod commit;
mod connection;
mod extensions;
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

use crate::examination::Place;
use crate::finding::Finding;

/// Examines the server that `admin` is connected to by `options`. `description` says what it is. Takes about two seconds.
///
/// # Errors
/// When the connection is lost. What a role may not see is told as a finding.
pub fn examine(admin: &mut Admin, options: &ConnectOptions, description: String) -> Result<Place, AdminError> {
    let facts = pgdyno_server::facts(admin, options)?;
    let caps = pgdyno_server::capabilities(admin, options)?;
    let (round_trip, trips) = round_trip::check(admin, facts.is_local)?;
    let mut found: Vec<Finding> = vec![round_trip];
    found.extend(connection::check(&facts, &caps));
    found.extend(read_only::check(&caps));
    found.extend(commit::check(admin, &facts, &trips)?);
    found.extend(settings::check(admin, &facts)?);
    found.extend(time_limits::check(&facts));
    found.extend(sessions::check(admin)?);
    found.extend(room::check(admin)?);
    found.extend(tables::check(admin)?);
    found.extend(catalog::check(admin)?);
    found.extend(extensions::check(admin, &facts)?);
    found.extend(rights::check(admin, &facts)?);
    found.extend(replication::check(admin, &facts)?);
    Ok(Place { name: "server", description, findings: found })
}
