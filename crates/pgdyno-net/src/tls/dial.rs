//! Asking a server for TLS, and getting it.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Instant;

use pgdyno_wire::frontend;
use rustls::ClientConnection;
use rustls::pki_types::ServerName;

use super::config::ALPN;
use super::{TlsConfig, TlsStream};
use crate::transport::{Patient as _, Socket};

/// How to get TLS from one server; kept for cancel requests, which go the same way.
#[derive(Clone, Debug)]
pub(crate) struct Dialer {
    pub(crate) config: TlsConfig,
    pub(crate) name: ServerName<'static>,
}

/// What the server made of it.
#[derive(Debug)]
pub(crate) enum Dialed {
    Tls(Box<TlsStream>),
    /// It does not do TLS; the connection can go on without.
    Plain(Socket),
}

/// Why there is neither.
#[derive(Debug)]
pub(crate) enum DialError {
    Io(io::Error),
    /// An answer that is none of PostgreSQL's.
    Foreign(Vec<u8>),
    /// An error message instead of an answer; it comes from whoever it is, so it is not shown.
    ErrorMessage,
    /// It closed the connection instead of an answer.
    Closed,
    Tls(rustls::Error),
    /// With `sslnegotiation=direct`: it speaks TLS, and nobody knows what beneath it.
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
    /// Asks (unless negotiation is direct) and shakes hands, on a blocking socket.
    pub(crate) fn dial(&self, mut socket: Socket, deadline: Option<Instant>) -> Result<Dialed, DialError> {
        if !self.config.direct {
            let mut out = Vec::new();
            frontend::ssl_request(&mut out);
            socket.write_all(&out)?;
            // One byte and no more: what follows, if anything, must be TLS.
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
