//! Merges a connection string, the environment and libpq's files into one set of values.
//!
//! Source: PostgreSQL documentation, libpq, "Connection Strings", "Parameter Key Words", "Environment
//! Variables", "The Password File", "The Connection Service File".

mod env;
mod key_value;
mod keywords;
mod passfile;
mod service;
mod uri;

use std::path::PathBuf;

pub use env::Env;
pub use key_value::pair;
pub(crate) use keywords::{Values, startup_variables};
use keywords::{known, require_known};
pub(crate) use passfile::PassFile;
pub(crate) use service::section;

/// The error when a connection string, or a file that belongs to it, was refused. No message holds a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConninfoError {
    /// Neither a URI nor `key=value` pairs.
    #[error("connection string is malformed: {0}")]
    Syntax(String),
    /// No such parameter.
    #[error("connection parameter '{name}' does not exist{}", did_you_mean(.nearest))]
    UnknownKeyword {
        /// The name given.
        name: String,
        /// The most similar known name.
        nearest: Option<&'static str>,
    },
    /// A parameter with an impossible value.
    #[error("connection parameter {name} must be {expected}, but '{value}' was given")]
    Invalid {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// The possible values.
        expected: String,
    },
    /// Two parameters that exclude each other, or one that pgdyno does not support.
    #[error("{0}")]
    Unsupported(String),
    /// Lists of hosts, addresses and ports of different lengths.
    #[error(
        "connection string names {hosts} hosts and {others} {what}; give one for each host{}",
        if *.what == "ports" { ", or one for all" } else { "" }
    )]
    ListLength {
        /// Number of hosts.
        hosts: usize,
        /// Number of the others.
        others: usize,
        /// `ports` or `host addresses`.
        what: &'static str,
    },
    /// The service is in none of the files.
    #[error("service '{name}' is defined in none of: {}", paths(.looked_in))]
    NoService {
        /// Its name.
        name: String,
        /// The files searched, whether they exist or not.
        looked_in: Vec<PathBuf>,
    },
    /// A service file that cannot be read or parsed.
    #[error("service file {path}{}: {reason}", line.map(|n| format!(" line {n}")).unwrap_or_default())]
    ServiceFile {
        /// The file.
        path: String,
        /// The line, from 1, if there is one.
        line: Option<usize>,
        /// The mistake.
        reason: String,
    },
    /// No user is named and the operating system's user has no name.
    #[error("no user to connect as: set PGUSER or user= in the connection string")]
    NoUser,
}

fn did_you_mean(name: &Option<&'static str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

fn paths(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
    paths.join(", ")
}

/// Values of a connection string alone.
pub(crate) fn parse(dsn: &str) -> Result<Values, ConninfoError> {
    // A space at the end may be escaped.
    let dsn = dsn.trim_ascii_start();
    if uri::is_uri(dsn) { uri::parse(dsn) } else { key_value::parse(dsn) }
}

/// Returns a connection string without its secrets (passwords, keys of SCRAM and OAuth), as `key=value` pairs: what may
/// stand in a file. It connects where the secrets come from the environment or a password file.
///
/// # Errors
/// When the string is malformed.
pub fn without_secrets(dsn: &str) -> Result<String, ConninfoError> {
    let values = parse(dsn)?;
    let pairs = values.iter().filter(|(key, _)| !keywords::is_secret(key));
    Ok(pairs.map(|(key, value)| pair(key, value)).collect::<Vec<_>>().join(" "))
}

/// Merges all values in libpq's order of precedence: the string, then values given apart from it, then the service,
/// then the environment. Does not fill in defaults.
pub(crate) fn merge(dsn: &str, apart: &[(&'static str, &str)], env: &Env) -> Result<Values, ConninfoError> {
    let mut values = parse(dsn)?;
    for (key, value) in apart.iter().filter(|(_, value)| !value.is_empty()) {
        values.insert_if_absent(key, value);
    }
    let service = values.get("service").or(env.var("PGSERVICE")).filter(|name| !name.is_empty()).map(str::to_owned);
    if let Some(name) = service {
        let file = values.get("servicefile").map(PathBuf::from);
        for (key, value) in service::lookup(&name, file, env)?.iter() {
            values.insert_if_absent(key, value);
        }
    }
    keywords::add_environment(&mut values, env);
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::new(vars.iter().copied(), None, Some("os"))
    }

    #[test]
    fn the_string_beats_the_service_and_the_service_beats_the_environment() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("services");
        std::fs::write(
            &file,
            "# ours\n[bench]\nhost=from-service\nport=1111\ndbname=from-service\n\n[other]\nhost=x\n",
        )
        .unwrap();
        let env = env(&[
            ("PGSERVICEFILE", file.to_str().unwrap()),
            ("PGSERVICE", "bench"),
            ("PGHOST", "from-env"),
            ("PGPORT", "2222"),
            ("PGUSER", "from-env"),
        ]);
        let values = merge("host=from-string", &[("host", "apart"), ("port", "")], &env).unwrap();
        let get = |key| values.get(key);
        assert_eq!(get("host"), Some("from-string"));
        assert_eq!(get("port"), Some("1111"));
        assert_eq!(get("dbname"), Some("from-service"));
        assert_eq!(get("user"), Some("from-env"));
        assert_eq!(
            merge("service=other", &[("port", "7")], &env).unwrap().get("host"),
            Some("x"),
            "service= beats PGSERVICE"
        );
        assert!(matches!(merge("service=absent", &[], &env), Err(ConninfoError::NoService { .. })));
    }

    #[test]
    fn a_string_without_its_secrets_means_the_same() {
        for (dsn, written) in [
            (
                "postgresql://ann:pw%40x@db1:6432/bench?sslmode=require",
                "dbname=bench host=db1 port=6432 sslmode=require user=ann",
            ),
            (r"host=db1 password='a b' application_name='it\'s \\ me'", r"application_name='it\'s \\ me' host=db1"),
            ("host=db1 sslpassword=x user=''", "host=db1 user=''"),
        ] {
            assert_eq!(without_secrets(dsn).unwrap(), written);
            assert_eq!(without_secrets(written).unwrap(), written);
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused_with_the_nearest_name() {
        for (dsn, message) in [
            ("hots=db1", "connection parameter 'hots' does not exist; did you mean 'host'?"),
            (
                "postgresql://h/d?ssl_mode=require",
                "connection parameter 'ssl_mode' does not exist; did you mean 'sslmode'?",
            ),
            ("zzzzzzzzzzzz=1", "connection parameter 'zzzzzzzzzzzz' does not exist"),
        ] {
            let error = merge(dsn, &[], &env(&[])).err().unwrap();
            assert_eq!(error.to_string(), message);
        }
    }
}
