//! What a user can do about an error of the server: the setting, right or limit behind it, and the command that changes it.

use pgdyno_wire::SqlState;
use pgdyno_wire::backend::ServerMessage;

/// Returns true if the server's disk is full. The SQLSTATE is also that of its shared memory, which is often 64 MB in a container.
pub(crate) fn is_disk_full(message: &ServerMessage) -> bool {
    message.code == SqlState::DISK_FULL && !message.message.contains("shared memory segment")
}

/// Returns the remedy for a server's error, as an imperative; `None` if only the message itself can say.
///
/// PostgreSQL's texts are read where the SQLSTATE does not name the object. A server in another language still gets the remedy of
/// its SQLSTATE.
#[must_use]
pub fn remedy(message: &ServerMessage) -> Option<String> {
    let text = message.message.as_str();
    Some(match message.code.as_str() {
        "42501" => right(text),
        "25006" => read_only(text),
        "57014" if text.contains("statement timeout") => time_limit("statement_timeout"),
        // PostgreSQL also reports a statement_timeout of a millisecond or two this way, when it expires as the statement ends.
        "57014" if text.contains("user request") => {
            format!("find out who cancelled it (pg_cancel_backend); if nobody did, {}", time_limit("statement_timeout"))
        }
        "55P03" if text.contains("lock timeout") => {
            format!("end the session that holds the lock, or {}", time_limit("lock_timeout"))
        }
        "55P03" => "end the session that holds the lock: pg_locks names it".to_owned(),
        "25P03" => time_limit("idle_in_transaction_session_timeout"),
        "25P04" => time_limit("transaction_timeout"),
        "57P05" => time_limit("idle_session_timeout"),
        "53300" => connections(text),
        "53100" if is_disk_full(message) => "free space on the server's disk, or take a smaller size".to_owned(),
        "53100" => "give the server more shared memory (docker run --shm-size=1g), or set max_parallel_workers_per_gather and \
                    max_parallel_maintenance_workers to 0"
            .to_owned(),
        "53200" if text.contains("shared memory") => {
            "raise the setting that the server's hint names (max_locks_per_transaction, or max_pred_locks_per_transaction for \
             serializable transactions), and restart the server"
                .to_owned()
        }
        "53200" => {
            "lower work_mem, hash_mem_multiplier or the number of clients, or give the server more memory".to_owned()
        }
        "53400" => {
            "raise the limit that the message names (temp_file_limit), as a superuser: ALTER ROLE … SET temp_file_limit = -1"
                .to_owned()
        }
        "42883" if text.starts_with("operator ") => return None,
        "3F000" | "42P01" | "42883" => {
            "load the data first, or set search_path to the schema that has it: ALTER ROLE … SET search_path = …, or \
             options='-c search_path=…' in the target"
                .to_owned()
        }
        "42704" if text.contains("tablespace") => {
            "create the tablespace, or reset the setting that names it: ALTER ROLE … RESET default_tablespace"
                .to_owned()
        }
        "0A000" if text.contains("cached plan must not change result type") => {
            "do not change tables while a run has prepared statements on them".to_owned()
        }
        // `conversion between UTF8 and MULE_INTERNAL is not supported`
        "0A000" if text.contains("conversion between UTF8 and ") => {
            let encoding = text.split("conversion between UTF8 and ").nth(1)?.split(' ').next()?;
            format!("add client_encoding={encoding} to the connection string: the database has that encoding")
        }
        "0A000" => "use a server or a pooling mode that supports it".to_owned(),
        "P0001" => {
            "the message comes from RAISE in a function, trigger or event trigger (\\dy) of the database: change what it asks for, \
             or drop or disable it"
                .to_owned()
        }
        _ => return None,
    })
}

/// Returns the remedy for a limit of time that the role, the database or the connection has.
fn time_limit(setting: &str) -> String {
    format!(
        "set {setting} to 0 for this role (ALTER ROLE … SET {setting} = 0), or add options='-c {setting}=0' to the target"
    )
}

fn read_only(text: &str) -> String {
    if text.contains("recovery") {
        return "name the primary in --target: the server is a standby".to_owned();
    }
    "reset default_transaction_read_only (ALTER ROLE … or ALTER DATABASE … RESET default_transaction_read_only), or add \
     options='-c default_transaction_read_only=off' to the target"
        .to_owned()
}

fn connections(text: &str) -> String {
    let limit = |kind: &str, name: &str| {
        format!("raise the limit: ALTER {kind} {name} CONNECTION LIMIT …, or use fewer clients")
    };
    match (name_after(text, "role "), name_after(text, "database ")) {
        (Some(role), _) => limit("ROLE", role),
        (None, Some(database)) => limit("DATABASE", database),
        (None, None) => {
            "use fewer clients, end other sessions, or raise max_connections and restart the server".to_owned()
        }
    }
}

/// Returns the remedy for a right that is missing.
fn right(text: &str) -> String {
    let owner = text.strip_prefix("must be owner of ");
    if let Some(object) = owner {
        return format!("connect as the owner of {object}, or as a superuser");
    }
    let grants = [
        ("permission denied for table ", "SELECT, and for workloads that write INSERT, UPDATE, DELETE, ON"),
        ("permission denied for view ", "SELECT ON"),
        ("permission denied for sequence ", "USAGE ON SEQUENCE"),
        ("permission denied for schema ", "USAGE, and to load CREATE, ON SCHEMA"),
        ("permission denied for function ", "EXECUTE ON FUNCTION"),
        ("permission denied for procedure ", "EXECUTE ON PROCEDURE"),
        ("permission denied for database ", "CONNECT, and to create schemas CREATE, ON DATABASE"),
        ("permission denied for tablespace ", "CREATE ON TABLESPACE"),
    ];
    let granted = grants.iter().find_map(|(words, rights)| text.strip_prefix(words).map(|object| (rights, object)));
    match granted {
        Some((rights, object)) => format!("GRANT {rights} {object} to this role"),
        None if text.contains("row-level security") => {
            "set row_security = on for this role, or connect as a role with BYPASSRLS".to_owned()
        }
        None => "connect as a role that may do this, or grant it to this role".to_owned(),
    }
}

/// Returns the quoted name after these words.
fn name_after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let rest = &text[text.find(words)? + words.len()..];
    let end = rest.rfind('"')?;
    (rest.starts_with('"') && end > 0).then(|| &rest[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str, text: &str) -> Option<String> {
        let code = SqlState::from_bytes(code.as_bytes());
        remedy(&ServerMessage { code, message: text.to_owned(), ..ServerMessage::default() })
    }

    #[test]
    fn the_setting_the_right_or_the_limit_is_named() {
        for (code, text, words) in [
            ("42501", "permission denied for schema public", "CREATE, ON SCHEMA public"),
            ("42501", "permission denied for function pg_size_bytes", "EXECUTE ON FUNCTION pg_size_bytes"),
            ("42501", "permission denied for table pg_class", "SELECT, and for workloads that write"),
            ("42501", "must be owner of table sbtest1", "the owner of table sbtest1"),
            ("42501", "keine Berechtigung", "connect as a role that may do this"),
            ("25006", "cannot execute UPDATE in a read-only transaction", "default_transaction_read_only=off"),
            ("57014", "canceling statement due to statement timeout", "statement_timeout=0"),
            ("57014", "canceling statement due to user request", "if nobody did, set statement_timeout to 0"),
            ("55P03", "canceling statement due to lock timeout", "lock_timeout=0"),
            ("57P05", "terminating connection due to idle-session timeout", "idle_session_timeout=0"),
            ("53300", "too many connections for role \"my app\"", "ALTER ROLE \"my app\" CONNECTION LIMIT"),
            ("53300", "too many connections for database \"b\"", "ALTER DATABASE \"b\" CONNECTION LIMIT"),
            ("53300", "sorry, too many clients already", "max_connections"),
            ("53100", "could not extend file \"base/5/16384\": No space left on device", "the server's disk"),
            (
                "53100",
                "could not resize shared memory segment \"/PostgreSQL.1\" to 8 bytes: No space left",
                "--shm-size",
            ),
            ("53200", "out of shared memory", "max_pred_locks_per_transaction"),
            ("53200", "out of memory", "lower work_mem"),
            ("0A000", "cached plan must not change result type", "do not change tables"),
            (
                "0A000",
                "conversion between UTF8 and MULE_INTERNAL is not supported",
                "add client_encoding=MULE_INTERNAL",
            ),
            ("42883", "function nosuch() does not exist", "load the data first"),
        ] {
            let remedy = of(code, text).unwrap_or_default();
            assert!(remedy.contains(words), "{code} {text}: {remedy}");
        }
        assert_eq!(of("42601", "syntax error"), None);
        assert_eq!(of("42883", "operator does not exist: integer = text"), None);
    }
}
