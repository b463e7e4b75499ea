//! Opens a connection: selects the host, the address and the encryption.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::time::Duration;

use pgdyno_wire::auth::Binding;
use pgdyno_wire::backend::{DataRow, ServerMessage};
use pgdyno_wire::frontend;

use crate::address::Address;
use crate::channel::{Channel, ReceiveError};
use crate::encrypt::{Encryption, another_way_may_help, dialer, encrypt, ways};
use crate::host::{Host, HostPlace};
use crate::interrupt::Watched;
use crate::session_attrs::SessionState;
use crate::startup::{Allowance, Attempt, StartupError};
use crate::{CancelHandle, ConnectError, ConnectOptions, Deadline, Peer, TargetSessionAttrs, Transport};

/// Parameters of the server, from its ParameterStatus messages.
#[derive(Clone, Debug, Default)]
pub struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// Returns the value of `server_version`, `in_hot_standby`, `server_encoding`, …
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns all names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// Returns `server_version` in the form of `server_version_num`: 150018, 180000 for `18beta1`. Returns `None` for
    /// other products, and for versions before 10.
    #[must_use]
    pub fn server_version_num(&self) -> Option<u32> {
        let version = self.get("server_version")?;
        let mut numbers = version.split(|c: char| !c.is_ascii_digit() && c != '.').next()?.split('.');
        let major: u32 = numbers.next()?.parse().ok()?;
        let minor: u32 = numbers.next().map_or(Ok(0), str::parse).ok()?;
        (major >= 10).then_some(major * 10_000 + minor)
    }
}

/// An open connection, ready for a query.
#[derive(Debug)]
pub struct Connection {
    pub(crate) channel: Channel,
    pub(crate) parameters: Parameters,
    pub(crate) peer: Peer,
    pub(crate) notices: Vec<ServerMessage>,
    cancel: CancelHandle,
    tls: Option<TlsInfo>,
    pub(crate) watched: Option<Watched>,
    pub(crate) answer_timeout: Duration,
}

/// Properties of a TLS session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The registered name of the cipher suite.
    pub cipher: &'static str,
    /// Whether the authentication was bound to this connection (SCRAM-SHA-256-PLUS).
    pub channel_bound: bool,
}

/// The parts of a connection, for an engine that drives it.
#[derive(Debug)]
pub struct ConnectionParts {
    /// The stream, in blocking mode.
    pub transport: Transport,
    /// Bytes of the server that were read already and precede those of the transport. Usually empty.
    pub input: Vec<u8>,
    /// The server's parameters.
    pub parameters: Parameters,
    /// Cancels the connection's statement.
    pub cancel: CancelHandle,
    /// Name of the server, for messages.
    pub peer: Peer,
    /// The TLS session, if there is one.
    pub tls: Option<TlsInfo>,
    /// Notices during the startup: of a login trigger, or of a database whose collation has changed.
    pub notices: Vec<ServerMessage>,
}

impl Connection {
    /// Opens a connection: tries hosts, addresses and ways of encryption in libpq's order, each host for at most
    /// `connect_timeout`.
    ///
    /// # Errors
    /// See [`ConnectError`]; each has the server and the remedy.
    pub fn open(options: &ConnectOptions) -> Result<Self, ConnectError> {
        Self::open_and_report(options, &mut Vec::new())
    }

    /// Opens a connection. If a server refuses, which ends the search, `before` has the reasons of the servers before
    /// it; the error is about that server alone.
    ///
    /// # Errors
    /// See [`Connection::open`].
    pub fn open_and_report(options: &ConnectOptions, before: &mut Vec<ConnectError>) -> Result<Self, ConnectError> {
        let mut hosts: Vec<&Host> = options.hosts.iter().collect();
        if options.load_balance {
            shuffle(&mut hosts);
        }
        for wanted in options.target.rounds() {
            before.clear();
            for host in &hosts {
                if let Some(connection) = open_host(options, host, *wanted, before)? {
                    return Ok(connection);
                }
            }
        }
        let mut failures = std::mem::take(before);
        let unsuitable = |e: &ConnectError| matches!(e, ConnectError::Unsuitable { .. });
        if failures.iter().any(unsuitable) {
            return Err(ConnectError::NoSuitableHost { wanted: options.target.name(), reasons: failures });
        }
        Err(match failures.len() {
            1 => failures.remove(0),
            _ => ConnectError::All(failures),
        })
    }

    /// Returns the server's parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns a handle that cancels the connection's statement from any thread.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// Returns the server, for messages.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns the TLS session, if there is one.
    #[must_use]
    pub fn tls(&self) -> Option<&TlsInfo> {
        self.tls.as_ref()
    }

    /// Returns the parts of the connection.
    #[must_use]
    pub fn into_parts(self) -> ConnectionParts {
        let Self { channel, parameters, peer, notices, cancel, tls, watched: _, answer_timeout: _ } = self;
        let (transport, input) = channel.into_parts();
        ConnectionParts { transport, input, parameters, cancel, peer, tls, notices }
    }

    /// Returns whether the server is a standby and whether it is writable; `None` if unknown.
    fn session_state(&mut self) -> Result<Option<SessionState>, ReceiveError> {
        let on = |value: &str| value == "on" || value == "t";
        let reported = |name| self.parameters.get(name).map(on);
        if let (Some(in_hot_standby), Some(read_only)) =
            (reported("in_hot_standby"), reported("default_transaction_read_only"))
        {
            return Ok(Some(SessionState { in_hot_standby, read_only }));
        }
        // Servers before PostgreSQL 14 do not report it.
        let row = self.first_row(
            "SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('default_transaction_read_only')",
        )?;
        let cell = |nth: usize| row.get(nth).and_then(Option::as_deref).map(on);
        Ok(cell(0).zip(cell(1)).map(|(in_hot_standby, read_only)| SessionState { in_hot_standby, read_only }))
    }

    /// Runs a query that takes a server milliseconds, and returns its first row; an empty one if there is none, or the
    /// server refuses it.
    ///
    /// # Errors
    /// When the connection is lost, or the server does not answer within [`ConnectOptions::answer_timeout`].
    pub fn ask(&mut self, sql: &str) -> Result<Vec<Option<String>>, ConnectError> {
        let lost = |peer: &Peer, reason: String| ConnectError::Lost {
            peer: peer.clone(),
            source: std::io::Error::other(reason),
        };
        self.channel
            .set_deadline(Deadline::after(self.answer_timeout))
            .map_err(ReceiveError::Io)
            .and_then(|()| self.first_row(sql))
            .and_then(|row| self.channel.set_deadline(Deadline::NEVER).map(|()| row).map_err(ReceiveError::Io))
            .map_err(|error| lost(&self.peer, error.to_string()))
    }

    fn first_row(&mut self, sql: &str) -> Result<Vec<Option<String>>, ReceiveError> {
        let mut out = Vec::new();
        frontend::query(&mut out, sql.as_bytes());
        self.channel.send(&out)?;
        let mut allowance = Allowance::authenticated();
        let mut row = Vec::new();
        loop {
            let message = self.channel.receive_if(|tag, len| allowance.permits(tag, len), None)?;
            allowance.spend(&message);
            match message.tag {
                b'D' if row.is_empty() => {
                    let cells = DataRow::new(message.body).columns();
                    row = cells.map(|cell| cell.map(|cell| String::from_utf8_lossy(cell).into_owned())).collect();
                }
                b'Z' => return Ok(row),
                _ => {}
            }
        }
    }
}

/// Tries the addresses of one host. Returns `Ok(None)` if the next host is to be tried; the reasons are in `failures`
/// then.
fn open_host(
    options: &ConnectOptions,
    host: &Host,
    wanted: TargetSessionAttrs,
    failures: &mut Vec<ConnectError>,
) -> Result<Option<Connection>, ConnectError> {
    let mut addresses = match Address::all_of(host, options.interrupter.as_ref()) {
        Ok(addresses) => addresses,
        Err(_) if options.is_interrupted() => {
            return Err(ConnectError::Interrupted { place: host.name().to_owned() });
        }
        Err(source) => {
            let host = host.name().to_owned();
            failures.push(ConnectError::UnknownHost { host, source });
            return Ok(None);
        }
    };
    if options.load_balance {
        shuffle(&mut addresses);
    }
    for address in addresses {
        let peer = Peer::new(host, &address);
        if host.place == HostPlace::DefaultSocket && address.is_strangers() {
            let source = io::Error::other(
                "the socket belongs to another user; if it is the server's, name its directory: host=/tmp",
            );
            failures.push(ConnectError::Unreachable { peer, source });
            continue;
        }
        let attempt = Attempt { options, peer: &peer, password: options.password(host) };
        // One deadline for everything, including the query for its state.
        let deadline = options.connect_timeout.map_or(Deadline::NEVER, Deadline::after);
        let opened = open_address(&attempt, host, &address, deadline);
        match opened.and_then(|connection| settle(connection, wanted, &attempt)) {
            Ok(connection) => return Ok(Some(connection)),
            Err(_) if options.is_interrupted() => {
                return Err(ConnectError::Interrupted { place: peer.to_string() });
            }
            Err(error) if !error.may_try_others() => return Err(error),
            Err(error) => {
                let next_host = matches!(error, ConnectError::NotReady { .. } | ConnectError::Unsuitable { .. });
                failures.push(error);
                if next_host {
                    return Ok(None);
                }
            }
        }
    }
    Ok(None)
}

/// Checks that the server of an open connection is suitable. Removes the deadline.
fn settle(
    mut connection: Connection,
    wanted: TargetSessionAttrs,
    attempt: &Attempt<'_>,
) -> Result<Connection, ConnectError> {
    if wanted != TargetSessionAttrs::Any {
        let reason = match connection.session_state() {
            Ok(Some(state)) => wanted.refuse(state),
            Ok(None) => Some("it does not say whether it is a standby"),
            Err(error) => return Err(attempt.receive_error(error, &[], true)),
        };
        if let Some(reason) = reason {
            return Err(ConnectError::Unsuitable { peer: connection.peer, reason });
        }
    }
    connection.channel.set_deadline(Deadline::NEVER).map_err(|error| attempt.transport_error(error))?;
    Ok(connection)
}

/// Tries the ways of encryption for one address. If all fail, returns the first error.
fn open_address(
    attempt: &Attempt<'_>,
    host: &Host,
    address: &Address,
    deadline: Deadline,
) -> Result<Connection, ConnectError> {
    let mut first = None;
    let mut plain_tried = false;
    for way in ways(attempt.options.tls.mode, address) {
        if *way == Encryption::Plain && plain_tried {
            break;
        }
        match open_encrypted(attempt, host, address, *way, &mut plain_tried, deadline) {
            Ok(connection) => return Ok(connection),
            Err(failure) => {
                let go_on = another_way_may_help(&failure);
                first.get_or_insert(failure.error);
                if !go_on {
                    break;
                }
            }
        }
    }
    // There is at least one way, which either succeeded or left its error.
    Err(first.unwrap_or(ConnectError::All(Vec::new())))
}

/// Makes one attempt, from the socket to ReadyForQuery. Sets `plain` when it continues without TLS.
fn open_encrypted(
    attempt: &Attempt<'_>,
    host: &Host,
    address: &Address,
    way: Encryption,
    plain: &mut bool,
    deadline: Deadline,
) -> Result<Connection, StartupError> {
    let early = |error| StartupError { error, before_auth: true };
    let options = attempt.options;
    let dialer = match way {
        Encryption::Plain => None,
        _ => dialer(&options.tls, host, address, attempt).map_err(early)?,
    };
    let interrupter = options.interrupter.as_ref();
    let socket = address.connect(deadline, &options.keepalive, interrupter).map_err(|source| {
        early(match source.kind() {
            std::io::ErrorKind::TimedOut => attempt.transport_error(source),
            _ => ConnectError::Unreachable { peer: attempt.peer.clone(), source },
        })
    })?;
    let watched = interrupter.map(|interrupter| interrupter.watch(&socket)).transpose();
    let watched = watched.map_err(|error| early(attempt.transport_error(error)))?;
    let (transport, binding) = match &dialer {
        Some(dialer) => encrypt(dialer, way, socket, deadline, attempt).map_err(early)?,
        None => (Transport::Plain(socket), Binding::NoTls),
    };
    let is_tls = matches!(transport, Transport::Tls(_));
    *plain |= !is_tls;
    let mut channel = Channel::new(transport, deadline);
    let started = attempt.start(&mut channel, binding)?;
    Ok(Connection {
        tls: tls_info(&channel.transport, started.channel_bound),
        channel,
        parameters: Parameters(started.parameters),
        notices: started.notices,
        watched,
        answer_timeout: options.answer_timeout(),
        peer: attempt.peer.clone(),
        cancel: CancelHandle {
            address: address.clone(),
            process_id: started.process_id,
            secret_key: started.secret_key,
            keepalive: options.keepalive.clone(),
            dialer: dialer.filter(|_| is_tls),
        },
    })
}

fn tls_info(transport: &Transport, channel_bound: bool) -> Option<TlsInfo> {
    let Transport::Tls(stream) = transport else {
        return None;
    };
    let session = stream.session();
    Some(TlsInfo {
        version: match session.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        },
        cipher: session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str()).unwrap_or("unknown"),
        channel_bound,
    })
}

/// Shuffles `items`, differently in every process and call.
fn shuffle<T>(items: &mut [T]) {
    for i in (1..items.len()).rev() {
        let random = std::hash::RandomState::new().build_hasher().finish();
        items.swap(i, (random % (i as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbered_as_the_server_numbers_them() {
        for (text, number) in [
            ("15.18 (Debian 15.18-0+deb12u1)", Some(150_018)),
            ("18.6", Some(180_006)),
            ("18beta1", Some(180_000)),
            ("9.6.24", None),
            ("nonsense", None),
        ] {
            let parameters = Parameters([("server_version".to_owned(), text.to_owned())].into_iter().collect());
            assert_eq!(parameters.server_version_num(), number, "{text}");
        }
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut items = [1, 2, 3, 4, 5];
        shuffle(&mut items);
        items.sort_unstable();
        assert_eq!(items, [1, 2, 3, 4, 5]);
    }
}
