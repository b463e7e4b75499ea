//! How many more connections a server takes from this role to this database.

use pgdyno_net::{Admin, AdminError, quote};

use crate::facts::ask::{ask, ask_all, first};

/// Sessions of others: on the server, of this role, and in this database. A role without `pg_monitor` does not see the type of
/// another's session, but whose it is.
const OTHERS: &str = "SELECT count(*), count(*) FILTER (WHERE usename = session_user), \
     count(*) FILTER (WHERE datname = current_database()) FROM pg_stat_activity \
     WHERE coalesce(backend_type, 'client backend') = 'client backend' AND usesysid IS NOT NULL AND pid <> pg_backend_pid()";
const OF_ROLE: &str = "SELECT rolconnlimit, session_user FROM pg_roles WHERE rolname = session_user";
const OF_DATABASE: &str = "SELECT datconnlimit, datname FROM pg_database WHERE datname = current_database()";

/// A limit of connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimit {
    /// `max_connections`, `the connection limit of role "app"`.
    pub name: String,
    /// Its value.
    pub most: u32,
    /// Connections that only other roles can have.
    pub reserved: u32,
    /// Those of other sessions.
    pub used: u32,
    /// The command that raises it to a number of connections, up to that number.
    raise: String,
}

impl ConnectionLimit {
    /// Returns how many connections fit, that of the session that asked included.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.most.saturating_sub(self.reserved).saturating_sub(self.used)
    }

    /// Returns what makes room for so many connections beside those of other sessions.
    #[must_use]
    pub fn remedy(&self, connections: u32) -> String {
        let wanted = connections.saturating_add(self.used).saturating_add(self.reserved);
        match self.raise.is_empty() {
            true => format!("raise max_connections to {wanted} and restart the server"),
            false => format!("{} {wanted}", self.raise),
        }
    }

    /// Returns the limit in words: `max_connections is 20, 3 are reserved, 5 are in use by others`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{} is {}", self.name, self.most);
        for (number, what) in [(self.reserved, "reserved"), (self.used, "in use by others")] {
            if number > 0 {
                text += &format!(", {number} {} {what}", if number == 1 { "is" } else { "are" });
            }
        }
        text
    }
}

/// Returns the limit with the least room: of the server, of the role, or of the database; `None` if none is known.
///
/// # Errors
/// Only when the connection is lost.
pub fn room(admin: &mut Admin) -> Result<Option<ConnectionLimit>, AdminError> {
    admin.promptly("how many connections it has", |admin| {
        Ok(limits(admin)?.into_iter().min_by_key(ConnectionLimit::free))
    })
}

fn limits(admin: &mut Admin) -> Result<Vec<ConnectionLimit>, AdminError> {
    let is_superuser = admin.parameters().get("is_superuser") == Some("on");
    // SHOW needs no right.
    let [others, most, of_superusers] =
        ask_all(admin, [OTHERS, "SHOW max_connections", "SHOW superuser_reserved_connections"])?;
    let number = |shown| first(shown).and_then(|n| n.parse::<u32>().ok());
    let [on_server, of_role, in_database] = match others.and_then(|rows| rows.rows.into_iter().next()) {
        Some(row) => {
            [0, 1, 2].map(|at| row.get(at).and_then(Option::as_deref).and_then(|n| n.parse().ok()).unwrap_or(0))
        }
        None => [0; 3],
    };
    let mut limits = Vec::new();
    if let Some(most) = number(most) {
        let version = admin.parameters().server_version_num();
        // Older servers do not have it, and would log the question as an error.
        let of_roles = match is_superuser || version.is_some_and(|version| version < 160_000) {
            true => None,
            false => {
                match first(ask(admin, "SELECT pg_has_role('pg_use_reserved_connections', 'USAGE')")?).as_deref() {
                    Some("t") => None,
                    _ => number(ask(admin, "SHOW reserved_connections")?),
                }
            }
        };
        let all = number(of_superusers).unwrap_or_default() + of_roles.unwrap_or_default();
        let reserved = if is_superuser { 0 } else { all };
        let (name, raise) = ("max_connections".to_owned(), String::new());
        limits.push(ConnectionLimit { name, most, reserved, used: on_server, raise });
    }
    if is_superuser {
        // The other limits do not hold for superusers.
        return Ok(limits);
    }
    for (kind, sql, used) in [("role", OF_ROLE, of_role), ("database", OF_DATABASE, in_database)] {
        let Some(row) = ask(admin, sql)?.and_then(|rows| rows.rows.into_iter().next()) else { continue };
        let [most, name] = <[Option<String>; 2]>::try_from(row).unwrap_or_default();
        // Without a limit it is -1.
        let Some(most) = most.and_then(|most| most.parse().ok()) else { continue };
        let name = quote::identifier(&name.unwrap_or_default());
        let raise = format!("ALTER {} {name} CONNECTION LIMIT", kind.to_uppercase());
        limits.push(ConnectionLimit {
            name: format!("the connection limit of {kind} {name}"),
            most,
            reserved: 0,
            used,
            raise,
        });
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reported_with_what_is_taken_of_it_and_how_to_raise_it() {
        let name = "the connection limit of role \"app\"".to_owned();
        let raise = "ALTER ROLE \"app\" CONNECTION LIMIT".to_owned();
        let role = ConnectionLimit { name, most: 8, reserved: 0, used: 1, raise };
        assert_eq!(role.text(), "the connection limit of role \"app\" is 8, 1 is in use by others");
        assert_eq!((role.free(), role.remedy(11).as_str()), (7, "ALTER ROLE \"app\" CONNECTION LIMIT 12"));
        let server = ConnectionLimit {
            name: "max_connections".to_owned(),
            most: 20,
            reserved: 3,
            used: 0,
            raise: String::new(),
        };
        assert_eq!(server.text(), "max_connections is 20, 3 are reserved");
        assert_eq!(server.remedy(50), "raise max_connections to 53 and restart the server");
    }
}
