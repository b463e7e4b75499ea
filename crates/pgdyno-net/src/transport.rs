//! A byte stream to a server.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

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
            Self::Plain(Socket::Unix(stream)) => stream.set_nonblocking(nonblocking),
            Self::Plain(Socket::Tcp(stream)) => stream.set_nonblocking(nonblocking),
            Self::Tls(stream) => stream.tcp.set_nonblocking(nonblocking),
        }
    }

    /// How long a blocking read waits; `None` is for ever.
    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Plain(Socket::Unix(stream)) => stream.set_read_timeout(timeout),
            Self::Plain(Socket::Tcp(stream)) => stream.set_read_timeout(timeout),
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

/// The system call and nothing else: what libc does around it, for threads that are cancelled, costs as many instructions
/// again as the rest of the way. `recv` is what `read` comes to for a socket, without the way through the file system.
#[cfg(target_os = "linux")]
impl Read for Socket {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(self, buf, rustix::net::RecvFlags::empty())?.0)
    }
}

/// The same for sending. A peer that is gone is an error and no signal.
#[cfg(target_os = "linux")]
impl Write for Socket {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self, buf, rustix::net::SendFlags::NOSIGNAL)?)
    }

    #[inline]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write_vectored(bufs),
            Self::Tcp(stream) => stream.write_vectored(bufs),
        }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buf),
            Self::Tcp(stream) => stream.read(buf),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(buf),
            Self::Tcp(stream) => stream.write(buf),
        }
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write_vectored(bufs),
            Self::Tcp(stream) => stream.write_vectored(bufs),
        }
    }

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
            Self::Tls(stream) => stream.tcp.as_fd(),
        }
    }
}
