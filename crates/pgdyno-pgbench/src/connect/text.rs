//! libpq's words for the errors of pgdyno-net.

use std::io;

use pgdyno_net::{ConnectError, ConninfoError, Peer};

use super::Failed;
use crate::messages::system_text;
use pgdyno_wire::libpq;

/// Returns why a connection failed, as `PQerrorMessage` does, without the last line break.
#[must_use]
pub fn refusal(error: &ConnectError) -> String {
    use ConnectError as E;
    match error {
        E::Unreachable { peer, source } => at(peer, &unreachable(peer, source)),
        E::UnknownHost { host, source } => {
            let text = system_text(source);
            let reason = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
            format!("could not translate host name \"{host}\" to address: {reason}")
        }
        E::Interrupted { .. } => error.to_string(),
        E::Timeout { peer, .. } => at(peer, "timeout expired"),
        E::Lost { peer, source } if source.kind() == io::ErrorKind::UnexpectedEof => at(peer, libpq::LOST),
        E::Lost { peer, source } => at(peer, &system_text(source)),
        E::NotPostgres { peer, detail } => at(peer, detail),
        E::NoPassword { peer, .. } => at(peer, "fe_sendauth: no password supplied"),
        E::WrongPassword { peer, source, .. }
        | E::Refused { peer, source, .. }
        | E::NoDatabase { peer, source, .. }
        | E::TooManyConnections { peer, source }
        | E::NotReady { peer, source }
        | E::Server { peer, source } => at(peer, &libpq::error(source, "")),
        E::TlsNotOffered { peer, .. } => at(peer, "server does not support SSL, but SSL was required"),
        E::Certificate { peer, reason } | E::Tls { peer, reason } => at(peer, &format!("SSL error: {reason}")),
        E::TlsFile { peer, reason } => at(peer, reason),
        E::Auth { peer, source, .. } => at(peer, &source.to_string()),
        E::Unsuitable { peer, reason } => at(peer, reason),
        E::NoSuitableHost { wanted, reasons } => {
            let texts: Vec<String> = reasons.iter().map(|reason| unsuitable(wanted, reason)).collect();
            texts.join("\n")
        }
        E::All(errors) => {
            let texts: Vec<String> = without_second_default(errors).map(refusal).collect();
            texts.join("\n")
        }
    }
}

/// Returns the same, with the errors of servers that were tried earlier.
pub(super) fn all(before: &[ConnectError], error: &ConnectError) -> String {
    let texts: Vec<String> = without_second_default(before).chain([error]).map(refusal).collect();
    texts.join("\n")
}

fn at(peer: &Peer, what: &str) -> String {
    format!("connection to server {} failed: {what}", peer.in_libpq_words())
}

fn unreachable(peer: &Peer, source: &io::Error) -> String {
    let hint = if is_socket(peer) {
        "Is the server running locally and accepting connections on that socket?"
    } else {
        "Is the server running on that host and accepting TCP/IP connections?"
    };
    format!("{}\n\t{hint}", system_text(source))
}

fn is_socket(peer: &Peer) -> bool {
    peer.in_libpq_words().starts_with("on ")
}

/// In libpq's words, which name the state of the session or of the server.
fn unsuitable(wanted: &str, error: &ConnectError) -> String {
    let ConnectError::Unsuitable { peer, reason } = error else {
        return refusal(error);
    };
    at(
        peer,
        match wanted {
            "read-write" => "session is read-only",
            "read-only" => "session is not read-only",
            "primary" => "server is in hot standby mode",
            "standby" | "prefer-standby" => "server is not in hot standby mode",
            _ => reason,
        },
    )
}

/// pgdyno-net tries the default sockets of Debian's libpq and of one built from source. A libpq knows only one of them,
/// so the second one is not reported.
fn without_second_default(errors: &[ConnectError]) -> impl Iterator<Item = &ConnectError> {
    let directory = |error: &ConnectError| match error {
        ConnectError::Unreachable { peer, .. } if is_socket(peer) => Some(peer.host().to_owned()),
        _ => None,
    };
    errors.iter().enumerate().filter_map(move |(at, error)| {
        let before = at.checked_sub(1).and_then(|before| directory(&errors[before]));
        let second = directory(error).as_deref() == Some("/tmp") && before.as_deref() == Some("/var/run/postgresql");
        (!second).then_some(error)
    })
}

/// Returns libpq's error about a connection string, if it follows from the given one.
pub(super) fn nonsense(error: &ConninfoError) -> String {
    match error {
        ConninfoError::UnknownKeyword { name, .. } => format!("invalid connection option \"{name}\""),
        ConninfoError::Invalid { name, value, expected } if expected == "a whole number" => {
            format!("invalid integer value \"{value}\" for connection option \"{name}\"")
        }
        ConninfoError::Invalid { name: "hostaddr", value, .. } => {
            format!("could not parse network address \"{value}\": Name or service not known")
        }
        ConninfoError::Invalid { name, value, .. } => format!("invalid {name} value: \"{value}\""),
        ConninfoError::ListLength { hosts, others, what } if *what == "ports" => {
            format!("could not match {others} port numbers to {hosts} hosts")
        }
        ConninfoError::ListLength { hosts, others, .. } => {
            format!("could not match {hosts} host names to {others} hostaddr values")
        }
        ConninfoError::NoService { name, .. } => format!("definition of service \"{name}\" not found"),
        ConninfoError::ServiceFile { path, line: None, .. } => format!("service file \"{path}\" not found"),
        other => other.to_string(),
    }
}

/// Checks the ports of `-p`, before anything else parses them.
pub(super) fn check_port(ports: &str) -> Result<(), Failed> {
    for port in ports.split(',').map(str::trim).filter(|port| !port.is_empty()) {
        match port.parse::<i32>() {
            Ok(number) if (1..=65535).contains(&number) => {}
            Ok(_) => return Err(Failed(format!("invalid port number: \"{port}\""))),
            Err(_) => {
                return Err(Failed(format!("invalid integer value \"{port}\" for connection option \"port\"")));
            }
        }
    }
    Ok(())
}
