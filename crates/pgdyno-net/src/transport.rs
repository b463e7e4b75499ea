//! A byte stream to a server.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};

use crate::address::remaining;
use crate::tls::TlsStream;

/// A socket, or TLS over one.
///
/// Without TLS, reading and writing cost one system call each. With TLS, a read returns what one record
/// held, and more may wait in memory ([`Transport::has_buffered`]); a write may leave encrypted bytes
/// behind when the socket is non-blocking and full ([`Transport::wants_write`]).
#[derive(Debug)]
pub enum Transport {
    /// A socket with nothing above it.
    Plain(Socket),
    /// TLS over TCP.
    Tls(Box<TlsStream>),
}

/// A stream that the system carries.
#[derive(Debug)]
pub enum Socket {
    /// A unix socket.
    Unix(UnixStream),
    /// TCP, with `TCP_NODELAY`.
    Tcp(TcpStream),
}

impl Transport {
    /// Makes reads and writes return [`io::ErrorKind::WouldBlock`] instead of waiting, or wait again.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.set_nonblocking(nonblocking),
            Self::Tls(stream) => stream.socket.set_nonblocking(nonblocking),
        }
    }

    /// Whether a layer above the socket may hold bytes back, so that only a read that would block shows
    /// that there is no more.
    #[inline]
    #[must_use]
    pub fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Whether bytes wait in memory, so that the socket need not become readable before the next read.
    #[inline]
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.has_buffered(),
        }
    }

    /// Whether bytes that were taken by a write still wait for room in the socket. Then await that it is
    /// writable, and flush.
    #[inline]
    #[must_use]
    pub fn wants_write(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.wants_write(),
        }
    }
}

impl Socket {
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(nonblocking),
            Self::Tcp(stream) => stream.set_nonblocking(nonblocking),
        }
    }
}

/// A blocking stream that is read with a deadline.
pub(crate) trait Patient: Read {
    /// How long a read waits; `None` is for ever.
    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;

    /// Reads once, and waits for bytes no longer than until `deadline`. Signals do not end the wait: one that is handled,
    /// or a stop and a continuation of the process.
    fn read_by(&mut self, buf: &mut [u8], deadline: Option<Instant>) -> io::Result<usize> {
        loop {
            if let Some(left) = remaining(deadline)? {
                self.set_read_timeout(Some(left))?;
            }
            match self.read(buf) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What a blocking socket says when its timeout is over.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(io::ErrorKind::TimedOut.into()),
                other => return other,
            }
        }
    }
}

impl Patient for Socket {
    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(timeout),
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
        }
    }
}

impl Patient for Transport {
    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.set_read_timeout(timeout),
            Self::Tls(stream) => stream.socket.set_read_timeout(timeout),
        }
    }
}

/// A peer that is gone is an error and never a signal. Apple has no such flag: there the socket is told when it is made.
#[cfg(not(target_vendor = "apple"))]
const SEND: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
const SEND: SendFlags = SendFlags::empty();

/// The most pieces that one system call takes (`IOV_MAX`).
const MAX_PIECES: usize = 1024;

/// The system call and nothing else: what libc does around it, for threads that are cancelled, costs as many instructions
/// again as the rest of the way. `recv` is what `read` comes to for a socket, without the way through the file system.
impl Read for Socket {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(self, buf, RecvFlags::empty())?.0)
    }
}

/// The same for sending.
impl Write for Socket {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self, buf, SEND)?)
    }

    #[inline]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let pieces = &bufs[..bufs.len().min(MAX_PIECES)];
        Ok(rustix::net::sendmsg(self, pieces, &mut SendAncillaryBuffer::default(), SEND)?)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Socket {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for Transport {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buf),
            Self::Tls(stream) => stream.read(buf),
        }
    }
}

impl Write for Transport {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(buf),
            Self::Tls(stream) => stream.write(buf),
        }
    }

    #[inline]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write_vectored(bufs),
            Self::Tls(stream) => stream.write_vectored(bufs),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(socket) => socket.as_fd(),
            Self::Tls(stream) => stream.socket.as_fd(),
        }
    }
}
