//! Errors of opening a connection.

use std::io;

use pgdyno_wire::SqlState;
use pgdyno_wire::auth::AuthError;
use pgdyno_wire::backend::ServerMessage;

use crate::Peer;
use crate::remedy::remedy;

/// The error when a connection could not be opened: what was tried, on which server, and a remedy. `peer` is
/// `host:port` or a socket's path. No message holds a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nothing listens, or there is no route.
    #[error("cannot connect to {peer}: {}", unreachable(.source))]
    Unreachable {
        /// The server.
        peer: Peer,
        /// The system's error.
        source: io::Error,
    },
    /// The name of a host has no address.
    #[error("cannot find an address for host '{host}': {source}; check its spelling and the name service")]
    UnknownHost {
        /// The name.
        host: String,
        /// The system's error.
        source: io::Error,
    },
    /// An [`crate::Interrupter`] ended the attempt.
    #[error("interrupted while connecting to {place}")]
    Interrupted {
        /// The server: `host:port`, a socket's path, or the host alone while its address was looked up.
        place: String,
    },
    /// No answer in time.
    #[error(
        "{peer} did not answer within {seconds} s (connect_timeout); check that it is a PostgreSQL server \
         and not behind a firewall that drops packets, or raise connect_timeout"
    )]
    Timeout {
        /// The server.
        peer: Peer,
        /// The limit.
        seconds: u64,
    },
    /// The connection was lost while it was being opened.
    #[error("{peer} broke the connection off while it was being opened: {source}; the server's log may say why")]
    Lost {
        /// The server.
        peer: Peer,
        /// The system's error.
        source: io::Error,
    },
    /// The peer does not speak PostgreSQL's protocol.
    #[error("{peer} is not a PostgreSQL server: {detail}; check host and port")]
    NotPostgres {
        /// The peer.
        peer: Peer,
        /// Its answer.
        detail: String,
    },
    /// The server asks for a password and there is none (`28P01` without one).
    #[error(
        "{peer} asks for a password of role '{user}' and none is given; \
         set PGPASSWORD, add a line to ~/.pgpass, or put password= into the connection string"
    )]
    NoPassword {
        /// The server.
        peer: Peer,
        /// The role.
        user: String,
    },
    /// Wrong password (`28P01`).
    #[error("{peer} refuses the password of role '{user}'; correct PGPASSWORD, ~/.pgpass or password=")]
    WrongPassword {
        /// The server.
        peer: Peer,
        /// The role.
        user: String,
        /// The server's message.
        source: Box<ServerMessage>,
    },
    /// No line of `pg_hba.conf` matches this connection, or the role may not log in (`28000`).
    #[error("{peer} does not let role '{user}' in: {}", .source.message)]
    Refused {
        /// The server.
        peer: Peer,
        /// The role.
        user: String,
        /// The server's message.
        source: Box<ServerMessage>,
        /// The remedy.
        hint: &'static str,
    },
    /// No such database (`3D000`).
    #[error("{peer} has no database '{dbname}'; create it (createdb {dbname}) or name another with dbname=")]
    NoDatabase {
        /// The server.
        peer: Peer,
        /// The database.
        dbname: String,
        /// The server's message.
        source: Box<ServerMessage>,
    },
    /// No connection slot is left (`53300`).
    #[error("{peer} has no free connection: {}", .source.message)]
    TooManyConnections {
        /// The server.
        peer: Peer,
        /// The server's message.
        source: Box<ServerMessage>,
    },
    /// The server is starting up, shutting down or recovering (`57P03`).
    #[error("{peer} does not accept connections now: {}; try again when it is up", .source.message)]
    NotReady {
        /// The server.
        peer: Peer,
        /// The server's message.
        source: Box<ServerMessage>,
    },
    /// Any other refusal by the server.
    #[error("{peer} refuses the connection: {source}{}", startup_hint(source))]
    Server {
        /// The server.
        peer: Peer,
        /// The server's message.
        source: Box<ServerMessage>,
    },
    /// TLS is required and the server does not offer it.
    #[error(
        "{peer} does not offer TLS, and sslmode={sslmode} requires it; set ssl=on on the server, or use \
         sslmode=prefer or disable where the network is trusted"
    )]
    TlsNotOffered {
        /// The server.
        peer: Peer,
        /// libpq's word.
        sslmode: &'static str,
    },
    /// The server's certificate is not acceptable.
    #[error("the certificate of {peer} will not do: {reason}")]
    Certificate {
        /// The server.
        peer: Peer,
        /// The mistake and the remedy.
        reason: String,
    },
    /// TLS negotiation failed, or the session was lost.
    #[error("TLS with {peer} failed: {reason}")]
    Tls {
        /// The server.
        peer: Peer,
        /// The mistake.
        reason: String,
    },
    /// A file that TLS needs is missing or unusable.
    #[error("cannot connect to {peer} with TLS: {reason}")]
    TlsFile {
        /// The server.
        peer: Peer,
        /// The file and the remedy.
        reason: String,
    },
    /// The authentication is impossible.
    #[error("cannot authenticate to {peer} as '{user}': {source}")]
    Auth {
        /// The server.
        peer: Peer,
        /// The role.
        user: String,
        /// The reason.
        source: AuthError,
    },
    /// The server's state does not match `target_session_attrs`.
    #[error("{peer} will not do: {reason}")]
    Unsuitable {
        /// The server.
        peer: Peer,
        /// The reason.
        reason: &'static str,
    },
    /// No host matches `target_session_attrs`.
    #[error("no server satisfies target_session_attrs={wanted}: {}", list(.reasons))]
    NoSuitableHost {
        /// The value of `target_session_attrs`.
        wanted: &'static str,
        /// The reason for each host.
        reasons: Vec<ConnectError>,
    },
    /// Several addresses were tried.
    #[error("{}", list(.0))]
    All(Vec<ConnectError>),
}

fn list(errors: &[ConnectError]) -> String {
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

fn unreachable(error: &io::Error) -> String {
    let remedy = match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there; start the server, or check host and port",
        io::ErrorKind::NotFound => {
            "there is no such socket; start the server, or check host (the socket's directory) and port"
        }
        io::ErrorKind::PermissionDenied => {
            "this user may not use the socket or its directory, or a policy or route of this machine forbids it"
        }
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            "no route to it; check the address and the network"
        }
        io::ErrorKind::AddrNotAvailable => {
            "this machine has no free port; use fewer connections, leave out -C, or widen net.ipv4.ip_local_port_range"
        }
        _ => return error.to_string(),
    };
    format!("{remedy} ({error})")
}

/// PostgreSQL accepts any setting in the startup message; poolers do not.
fn startup_hint(source: &ServerMessage) -> &'static str {
    if source.message.contains("unsupported startup parameter") {
        "; a pooler refuses settings of a session (--set, PGOPTIONS, options=): connect to the server itself, or give them \
         to the role or database by ALTER ROLE or ALTER DATABASE … SET"
    } else {
        ""
    }
}

impl ConnectError {
    /// Returns the error for a FATAL message during the startup.
    pub(crate) fn from_server(peer: &Peer, user: &str, dbname: &str, message: ServerMessage) -> Self {
        let (peer, user) = (peer.clone(), user.to_owned());
        let source = Box::new(message);
        match source.code {
            SqlState::INVALID_PASSWORD => Self::WrongPassword { peer, user, source },
            SqlState::INVALID_AUTHORIZATION => {
                Self::Refused { peer, hint: refusal_hint(&source.message), user, source }
            }
            SqlState::INVALID_CATALOG_NAME => Self::NoDatabase { peer, dbname: dbname.to_owned(), source },
            SqlState::TOO_MANY_CONNECTIONS => Self::TooManyConnections { peer, source },
            SqlState::CANNOT_CONNECT_NOW => Self::NotReady { peer, source },
            _ => Self::Server { peer, source },
        }
    }

    /// Returns the SQLSTATE, if the server refused.
    #[must_use]
    pub fn code(&self) -> Option<SqlState> {
        match self {
            Self::WrongPassword { source, .. }
            | Self::Refused { source, .. }
            | Self::NoDatabase { source, .. }
            | Self::TooManyConnections { source, .. }
            | Self::NotReady { source, .. }
            | Self::Server { source, .. } => Some(source.code),
            _ => None,
        }
    }

    /// Returns what to do about it, if its text does not say so.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Refused { hint, .. } => Some((*hint).to_owned()),
            Self::TooManyConnections { source, .. } | Self::Server { source, .. } => remedy(source),
            Self::NoSuitableHost { reasons, .. } | Self::All(reasons) => reasons.iter().find_map(Self::remedy),
            _ => None,
        }
    }

    /// Returns true if the same attempt may succeed later without a change: nothing listens yet, the server is
    /// starting, it has no free connection, it did not answer.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::Lost { .. }
            | Self::TooManyConnections { .. }
            | Self::NotReady { .. } => true,
            Self::All(errors) => errors.iter().any(Self::is_transient),
            _ => false,
        }
    }

    /// Returns true if other addresses and hosts are to be tried after this error. As in libpq, a server that
    /// answered and refused ends the search.
    pub(crate) fn may_try_others(&self) -> bool {
        !matches!(
            self,
            Self::Interrupted { .. }
                | Self::NoPassword { .. }
                | Self::WrongPassword { .. }
                | Self::Refused { .. }
                | Self::NoDatabase { .. }
                | Self::TooManyConnections { .. }
                | Self::Server { .. }
                | Self::Auth { .. }
        )
    }
}

/// `28000` covers several cases that only the text distinguishes; these are the untranslated words.
fn refusal_hint(message: &str) -> &'static str {
    if message.contains("pg_hba.conf") {
        "add a line for this client to the server's pg_hba.conf and reload it, or change user, \
         database or sslmode"
    } else if message.contains("does not exist") {
        "create the role (createuser) or name another with user="
    } else if message.contains("not permitted to log in") {
        "give the role LOGIN (ALTER ROLE … LOGIN) or name another with user="
    } else if message.contains("certificate") {
        "give a client certificate that the server's CA signed for this role with sslcert= and sslkey="
    } else {
        "check user=, pg_hba.conf and pg_ident.conf"
    }
}
