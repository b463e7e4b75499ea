//! A byte stream to a server.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::tls::TlsStream;

/// A unix socket, TCP, or TLS over TCP.
///
/// Without TLS, reading and writing cost one system call each. With TLS, a read returns what one record
/// held, and more may wait in memory ([`Transport::has_buffered`]); a write may leave encrypted bytes
/// behind when the socket is non-blocking and full ([`Transport::wants_write`]).
#[derive(Debug)]
pub enum Transport {
    /// A unix socket.
    Unix(UnixStream),
    /// TCP, with `TCP_NODELAY`.
    Tcp(TcpStream),
    /// TLS over TCP.
    Tls(Box<TlsStream>),
}

impl Transport {
    /// Makes reads and writes return [`io::ErrorKind::WouldBlock`] instead of waiting, or wait again.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(nonblocking),
            Self::Tcp(stream) => stream.set_nonblocking(nonblocking),
            Self::Tls(stream) => stream.tcp.set_nonblocking(nonblocking),
        }
    }

    /// How long a blocking read waits; `None` is for ever.
    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(timeout),
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
            Self::Tls(stream) => stream.tcp.set_read_timeout(timeout),
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
            Self::Unix(_) | Self::Tcp(_) => false,
            Self::Tls(stream) => stream.has_buffered(),
        }
    }

    /// Whether bytes that were taken by a write still wait for room in the socket. Then await that it is
    /// writable, and flush.
    #[inline]
    #[must_use]
    pub fn wants_write(&self) -> bool {
        match self {
            Self::Unix(_) | Self::Tcp(_) => false,
            Self::Tls(stream) => stream.wants_write(),
        }
    }
}

/// The system call and nothing else: what libc does around it, for threads that are cancelled, costs as many instructions
/// again as the rest of the way.
#[cfg(target_os = "linux")]
#[inline]
fn receive<S: AsFd>(stream: &mut S, buf: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(stream, buf)?)
}

/// The same for sending. A peer that is gone is an error and no signal.
#[cfg(target_os = "linux")]
#[inline]
fn send<S: AsFd>(stream: &mut S, buf: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(stream, buf, rustix::net::SendFlags::NOSIGNAL)?)
}

#[cfg(not(target_os = "linux"))]
fn receive<S: Read>(stream: &mut S, buf: &mut [u8]) -> io::Result<usize> {
    stream.read(buf)
}

#[cfg(not(target_os = "linux"))]
fn send<S: Write>(stream: &mut S, buf: &[u8]) -> io::Result<usize> {
    stream.write(buf)
}

impl Read for Transport {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => receive(stream, buf),
            Self::Tcp(stream) => receive(stream, buf),
            Self::Tls(stream) => stream.read(buf),
        }
    }
}

impl Write for Transport {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => send(stream, buf),
            Self::Tcp(stream) => send(stream, buf),
            Self::Tls(stream) => stream.write(buf),
        }
    }

    #[inline]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write_vectored(bufs),
            Self::Tcp(stream) => stream.write_vectored(bufs),
            Self::Tls(stream) => stream.write_vectored(bufs),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Unix(_) | Self::Tcp(_) => Ok(()),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.tcp.as_fd(),
        }
    }
}
