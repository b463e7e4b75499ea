//! Whether transactions are read-only unless they say otherwise, and who says so.

use pgdyno_net::{Admin, AdminError, quote};

use crate::facts::ask::{ask, first};

const SETTING: &str = "default_transaction_read_only";

/// Returns its value.
pub(crate) const SHOWN: &str = "SHOW default_transaction_read_only";

/// Returns how to reset `default_transaction_read_only`, if [`SHOWN`] says that it is on for the sessions of `admin`'s role in its
/// database. SHOW needs no right; where the setting comes from is left out if `pg_settings` does not say it.
///
/// # Errors
/// Only when the connection is lost.
pub(crate) fn read_only(admin: &mut Admin, shown: Option<String>) -> Result<Option<String>, AdminError> {
    if shown.as_deref() != Some("on") {
        return Ok(None);
    }
    let source = first(ask(admin, &format!("SELECT source FROM pg_settings WHERE name = '{SETTING}'"))?);
    let names = ask(admin, "SELECT session_user, current_database()")?;
    let mut names = names.into_iter().flat_map(|rows| rows.rows).flatten().flatten();
    let [role, database] =
        [names.next(), names.next()].map(|name| name.map_or("…".to_owned(), |name| quote::identifier(&name)));
    Ok(Some(remedy(source.as_deref(), &role, &database)))
}

/// Returns the command for the place that a setting comes from: `source` of `pg_settings`.
fn remedy(source: Option<&str>, role: &str, database: &str) -> String {
    let here = format!("add options='-c {SETTING}=off' to the target");
    match source {
        Some("user") => format!("ALTER ROLE {role} RESET {SETTING}, or {here}"),
        Some("database") => format!("ALTER DATABASE {database} RESET {SETTING}, or {here}"),
        Some("database user") => format!("ALTER ROLE {role} IN DATABASE {database} RESET {SETTING}, or {here}"),
        Some("global") => format!("ALTER ROLE ALL RESET {SETTING}, or {here}"),
        Some("client") => format!("leave {SETTING} out of PGOPTIONS and of options= in the target"),
        Some("configuration file") => {
            format!(
                "set {SETTING} = off in postgresql.conf (or ALTER SYSTEM RESET {SETTING}) and reload the server, or {here}"
            )
        }
        _ => here,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_for_the_place_that_the_setting_comes_from() {
        let of = |source| remedy(Some(source), "\"app\"", "\"bench\"");
        assert!(of("user").starts_with("ALTER ROLE \"app\" RESET default_transaction_read_only, or add options="));
        assert!(of("database user").starts_with("ALTER ROLE \"app\" IN DATABASE \"bench\" RESET "));
        assert!(of("client").contains("PGOPTIONS") && !of("client").contains("add options"));
        assert_eq!(remedy(None, "r", "d"), "add options='-c default_transaction_read_only=off' to the target");
    }
}
