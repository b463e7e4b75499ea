//! Negotiates TLS with a server.

use std::io::{self, Write as _};
use std::sync::Arc;

use pgdyno_wire::frontend;
use rustls::ClientConnection;
use rustls::pki_types::ServerName;

use super::config::ALPN;
use super::{TlsConfig, TlsStream};
use crate::Deadline;
use crate::transport::{Patient as _, Socket};

/// How to negotiate TLS with one server; kept for cancel requests, which do the same.
#[derive(Clone, Debug)]
pub(crate) struct Dialer {
    pub(crate) config: TlsConfig,
    pub(crate) name: ServerName<'static>,
}

/// Result of the negotiation.
#[derive(Debug)]
pub(crate) enum Dialed {
    Tls(Box<TlsStream>),
    /// The server does not support TLS; the connection can continue without.
    Plain(Socket),
}

/// The error of the negotiation.
#[derive(Debug)]
pub(crate) enum DialError {
    Io(io::Error),
    /// An answer outside of PostgreSQL's protocol.
    Foreign(Vec<u8>),
    /// An error message as the answer. Its sender is not authenticated, so it is not shown.
    ErrorMessage,
    /// The connection was closed.
    Closed,
    Tls(rustls::Error),
    /// With `sslnegotiation=direct`: it speaks TLS, with an unknown protocol above it.
    NoAlpn,
}

impl From<io::Error> for DialError {
    fn from(error: io::Error) -> Self {
        let inner = error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
        inner.cloned().map_or(Self::Io(error), Self::Tls)
    }
}

impl From<DialError> for io::Error {
    fn from(error: DialError) -> Self {
        match error {
            DialError::Io(error) => error,
            DialError::Tls(error) => Self::other(error),
            DialError::Foreign(_) | DialError::ErrorMessage | DialError::NoAlpn => {
                Self::other("the server no longer offers TLS")
            }
            DialError::Closed => io::ErrorKind::UnexpectedEof.into(),
        }
    }
}

impl Dialer {
    /// Requests TLS (unless negotiation is direct) and does the handshake, on a blocking socket.
    pub(crate) fn dial(&self, mut socket: Socket, deadline: Deadline) -> Result<Dialed, DialError> {
        if !self.config.direct {
            let mut out = Vec::new();
            frontend::ssl_request(&mut out);
            socket.write_all(&out)?;
            // One byte only: the next one must belong to TLS.
            let mut answer = [0];
            match (socket.read_by(&mut answer, deadline)?, answer[0]) {
                (0, _) => return Err(DialError::Closed),
                (_, b'S') => {}
                (_, b'N') => return Ok(Dialed::Plain(socket)),
                (_, b'E') => return Err(DialError::ErrorMessage),
                (_, first) => {
                    let mut said = vec![first; 64];
                    let more = socket.read_by(&mut said[1..], deadline).unwrap_or(0);
                    said.truncate(1 + more);
                    return Err(DialError::Foreign(said));
                }
            }
        }
        let session =
            ClientConnection::new(Arc::clone(&self.config.client), self.name.clone()).map_err(DialError::Tls)?;
        let mut stream = TlsStream::new(socket, session);
        stream.handshake(deadline)?;
        if self.config.direct && stream.session().alpn_protocol() != Some(ALPN) {
            return Err(DialError::NoAlpn);
        }
        Ok(Dialed::Tls(Box::new(stream)))
    }
}
