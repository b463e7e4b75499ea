//! TLS over TCP, blocking or not.

use std::io::{self, Read, Write};

use rustls::ClientConnection;

use crate::Deadline;
use crate::transport::{Patient as _, Socket};

/// A TLS session and its connection. Works on blocking and on non-blocking sockets.
#[derive(Debug)]
pub struct TlsStream {
    pub(crate) socket: Socket,
    session: ClientConnection,
    /// Decrypted bytes that are unread.
    buffered: usize,
}

impl TlsStream {
    pub(super) fn new(socket: Socket, session: ClientConnection) -> Self {
        Self { socket, session, buffered: 0 }
    }

    pub(crate) fn session(&self) -> &ClientConnection {
        &self.session
    }

    /// Returns true if decrypted bytes are unread: the socket does not become readable for them.
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        self.buffered > 0
    }

    /// Returns true if encrypted bytes wait for room in the socket: wait until it is writable, then flush.
    #[must_use]
    pub fn wants_write(&self) -> bool {
        self.session.wants_write()
    }

    /// Does the handshake on a blocking socket.
    pub(super) fn handshake(&mut self, deadline: Deadline) -> io::Result<()> {
        while self.session.is_handshaking() || self.session.wants_write() {
            if self.session.wants_write() {
                self.send()?;
                continue;
            }
            if let Some(left) = deadline.remaining()? {
                self.socket.set_read_timeout(Some(left))?;
            }
            match self.receive() {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                // Again, with the time left.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads from the socket once and decrypts. Returns the number of bytes.
    fn receive(&mut self) -> io::Result<usize> {
        let count = self.session.read_tls(&mut self.socket)?;
        match self.session.process_new_packets() {
            Ok(state) => {
                self.buffered = state.plaintext_bytes_to_read();
                Ok(count)
            }
            Err(error) => {
                // The alert gives the peer the reason; the error is what matters here.
                drop(self.session.write_tls(&mut self.socket));
                Err(io::Error::new(io::ErrorKind::InvalidData, error))
            }
        }
    }

    /// Sends encrypted bytes, as far as the socket takes them. A signal does not end it: the caller's bytes are
    /// consumed already, and would be sent twice if it tried again.
    fn send(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
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
                // A missing close_notify is no error; PostgreSQL's messages have lengths.
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
    /// Encrypts what fits, and sends as much as the socket takes. The rest stays until [`TlsStream::wants_write`] is
    /// false.
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let mut count = self.session.writer().write(buf)?;
        let sent = self.send();
        if count == 0 && !buf.is_empty() {
            // There was no room; without progress the caller must wait.
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
