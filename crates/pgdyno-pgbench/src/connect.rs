//! Connecting as pgbench does, and refusals in libpq's words.
//!
//! Differences: if several encryption methods fail, only the first is reported; and errors of pgdyno-net about invalid
//! connection strings, TLS and authentication methods keep their own text.

mod prompt;
mod text;

use std::io;

use pgdyno_net::{ConnectError, ConnectOptions, Connection, Env, Secret};

pub use prompt::ask_on_terminal;
pub use text::refusal;

use crate::messages::ExitReason;
use crate::options::ConnectionTarget;

/// Returns where and how to connect: from the connection string in place of the database's name, then the options, then
/// the environment.
///
/// # Errors
/// When one of them is invalid; pgbench reports this when it connects, see [`Failed`].
pub fn options(target: &ConnectionTarget, program: &str, env: &Env) -> Result<ConnectOptions, Failed> {
    let ConnectionTarget { dbname, host, port, user } = target;
    let is_uri = dbname.starts_with("postgresql://") || dbname.starts_with("postgres://");
    // libpq takes the last value of an option, and pgbench gives its own name after the string.
    let named_last = match () {
        () if is_uri => {
            let separator = match dbname.split_once('?') {
                None => "?",
                Some((_, "")) => "",
                Some(_) => "&",
            };
            format!("{dbname}{separator}fallback_application_name={program}")
        }
        () if dbname.contains('=') => format!("{dbname} fallback_application_name={program}"),
        () => String::new(),
    };
    let (string, name) = if named_last.is_empty() { ("", dbname.as_str()) } else { (named_last.as_str(), "") };
    let given = |value: &'_ Option<String>| value.clone().unwrap_or_default();
    let (host, port, user) = (given(host), given(port), given(user));
    text::check_port(&port)?;
    let apart = [
        ("host", host.as_str()),
        ("port", port.as_str()),
        ("user", user.as_str()),
        ("dbname", name),
        ("fallback_application_name", program),
    ];
    let options = ConnectOptions::resolve_with(string, &apart, env);
    options.map(ConnectOptions::with_servers_encoding).map_err(|error| Failed(text::nonsense(&error)))
}

/// Why a connection failed, in libpq's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub String);

impl Failed {
    /// Returns the failure that ends the program: `for_what` is `setup`, `initialization` or `client 3`.
    #[must_use]
    pub fn during(self, for_what: &str) -> ExitReason {
        let and = format!("could not create connection for {for_what}");
        ExitReason::error(self.0).and(crate::messages::Said::Error(and))
    }
}

/// Asks the user for a password: [`ask_on_terminal`] in the program, anything else in tests.
pub type Ask<'a> = &'a mut dyn FnMut() -> io::Result<Secret>;

/// Opens a connection. If the server asks for a password and there is none, calls `ask` once, and stores the password
/// in `options` for all later connections.
///
/// # Errors
/// In libpq's words.
pub fn open(options: &mut ConnectOptions, ask: Ask<'_>) -> Result<Connection, Failed> {
    let wants_password = |error: &ConnectError| matches!(error, ConnectError::NoPassword { .. });
    let mut before = Vec::new();
    let first = match Connection::open_and_report(options, &mut before) {
        Ok(connection) => return Ok(connection),
        Err(error) => error,
    };
    let password = if wants_password(&first) { ask().ok().filter(|given| !given.reveal().is_empty()) } else { None };
    let Some(password) = password else {
        return Err(Failed(text::all(&before, &first)));
    };
    *options = options.with_password(password);
    Connection::open_and_report(options, &mut before).map_err(|error| Failed(text::all(&before, &error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(target: &ConnectionTarget, vars: &[(&str, &str)]) -> String {
        let env = Env::new(vars.iter().copied(), None, Some("os"));
        options(target, "pgbench", &env).map_or_else(|failed| failed.0, |options| options.to_string())
    }

    #[test]
    fn a_string_beats_the_options_and_these_beat_the_environment() {
        let target = |dbname: &str| ConnectionTarget {
            dbname: dbname.to_owned(),
            host: Some("h".into()),
            port: Some("7".into()),
            user: None,
        };
        let vars = [("PGHOST", "env"), ("PGUSER", "env"), ("PGDATABASE", "env")];
        assert_eq!(shown(&target("d"), &vars), "host=h port=7 dbname=d user=env");
        assert_eq!(shown(&target("host=s dbname=x"), &vars), "host=s port=7 dbname=x user=env");
        assert_eq!(shown(&target("postgresql://u@s:8/x"), &vars), "host=s port=8 dbname=x user=u");
        assert_eq!(shown(&target("user=s"), &vars), "host=h port=7 dbname=env user=s");
        assert_eq!(shown(&target(""), &vars), "host=h port=7 dbname=env user=env");
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_libpqs_words() {
        let port = |port: &str| ConnectionTarget {
            port: Some(port.into()),
            dbname: "d".into(),
            ..ConnectionTarget::default()
        };
        let named = |dbname: &str| ConnectionTarget { dbname: dbname.into(), ..ConnectionTarget::default() };
        for (target, text) in [
            (port("abc"), "invalid integer value \"abc\" for connection option \"port\""),
            (port("70000"), "invalid port number: \"70000\""),
            (named("foo=bar"), "invalid connection option \"foo\""),
            (named("sslmode=zz"), "invalid sslmode value: \"zz\""),
            (named("host=a port=1,2"), "could not match 2 port numbers to 1 hosts"),
            (named("service=xx"), "definition of service \"xx\" not found"),
            (named("dbname=d tty=x"), "invalid connection option \"tty\""),
        ] {
            assert_eq!(shown(&target, &[]), text);
        }
        let absent = [("PGSERVICEFILE", "/nowhere/services")];
        assert_eq!(shown(&named("service=xx"), &absent), "service file \"/nowhere/services\" not found");
    }

    #[test]
    fn the_program_names_itself_to_the_server() {
        let env = Env::new([], None, Some("os"));
        let named = |dbname: &str| {
            let target = ConnectionTarget { dbname: dbname.into(), ..ConnectionTarget::default() };
            format!("{:?}", options(&target, "pgbench", &env).unwrap())
        };
        let fallback = "fallback_application_name=bar";
        let (string, uri) = (format!("dbname=d {fallback}"), format!("postgresql:///d?{fallback}"));
        for dbname in ["d", &string, &uri, "postgresql:///d", "postgresql:///d?", "postgresql:///d?user=u"] {
            assert!(named(dbname).contains("(\"application_name\", \"pgbench\")"), "{dbname}: {}", named(dbname));
        }
        assert!(named("dbname=d application_name=mine").contains("(\"application_name\", \"mine\")"));
    }
}
