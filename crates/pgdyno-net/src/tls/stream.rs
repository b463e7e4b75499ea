//! TLS over TCP, blocking or not.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustls::ClientConnection;

use crate::address::remaining;

/// A TLS session and the TCP connection beneath it. It works on a blocking socket and on a non-blocking
/// one alike.
#[derive(Debug)]
pub struct TlsStream {
    pub(crate) tcp: TcpStream,
    session: ClientConnection,
    /// Decrypted bytes that were not read yet.
    buffered: usize,
}

impl TlsStream {
    pub(super) fn new(tcp: TcpStream, session: ClientConnection) -> Self {
        Self { tcp, session, buffered: 0 }
    }

    pub(crate) fn session(&self) -> &ClientConnection {
        &self.session
    }

    /// Whether decrypted bytes wait to be read: the socket does not become readable for them.
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        self.buffered > 0
    }

    /// Whether encrypted bytes wait for room in the socket: await that it is writable, then flush.
    #[must_use]
    pub fn wants_write(&self) -> bool {
        self.session.wants_write()
    }

    /// Shakes hands on a blocking socket.
    pub(super) fn handshake(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        while self.session.is_handshaking() || self.session.wants_write() {
            if self.session.wants_write() {
                self.session.write_tls(&mut self.tcp)?;
                continue;
            }
            if let Some(left) = remaining(deadline)? {
                self.tcp.set_read_timeout(Some(left))?;
            }
            if self.receive()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// Reads from the socket once and decrypts; how many bytes came.
    fn receive(&mut self) -> io::Result<usize> {
        let count = self.session.read_tls(&mut self.tcp)?;
        match self.session.process_new_packets() {
            Ok(state) => {
                self.buffered = state.plaintext_bytes_to_read();
                Ok(count)
            }
            Err(error) => {
                // The alert tells the peer why; the error is what matters here.
                drop(self.session.write_tls(&mut self.tcp));
                Err(io::Error::new(io::ErrorKind::InvalidData, error))
            }
        }
    }

    /// Sends what is encrypted, as far as the socket takes it.
    fn send(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut self.tcp)?;
        }
        Ok(())
    }
}

impl Read for TlsStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buf) {
                Ok(count) => {
                    self.buffered = self.buffered.saturating_sub(count);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The end without a farewell is an end; PostgreSQL's messages carry their lengths.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) => return Err(error),
            }
            self.receive()?;
            // A key update is answered at once.
            if self.session.wants_write() {
                match self.send() {
                    Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                    _ => {}
                }
            }
        }
    }
}

impl Write for TlsStream {
    /// Encrypts what fits, and sends as much as the socket takes. What it does not take stays with
    /// [`TlsStream::wants_write`].
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let mut count = self.session.writer().write(buf)?;
        let sent = self.send();
        if count == 0 && !buf.is_empty() {
            // There was no room; without progress it is for the caller to wait.
            sent?;
            count = self.session.writer().write(buf)?;
            match self.send() {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
            return Ok(count);
        }
        match sent {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}
