//! A byte stream to a server.

use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};

use crate::Deadline;
use crate::tls::TlsStream;

/// A socket, or TLS over one.
///
/// Without TLS, a read or write costs one system call. With TLS, a read returns the content of one record, and more
/// may be buffered ([`Transport::has_buffered`]); a write may leave encrypted bytes if the socket is non-blocking and
/// full ([`Transport::wants_write`]).
#[derive(Debug)]
pub enum Transport {
    /// A plain socket.
    Plain(Socket),
    /// TLS over TCP.
    Tls(Box<TlsStream>),
}

/// A socket.
#[derive(Debug)]
pub enum Socket {
    /// A unix socket.
    Unix(UnixStream),
    /// TCP, with `TCP_NODELAY`.
    Tcp(TcpStream),
}

impl Transport {
    /// Makes reads and writes non-blocking ([`io::ErrorKind::WouldBlock`]), or blocking again.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.set_nonblocking(nonblocking),
            Self::Tls(stream) => stream.socket.set_nonblocking(nonblocking),
        }
    }

    /// Makes reads wait for bytes, for as long as `patience` ([`io::ErrorKind::WouldBlock`] then), where nothing but such a read is to
    /// be waited for; [`Socket::now`] does not wait. Returns false for TLS, which stays as it is.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait_in_reads(&self, patience: Duration) -> io::Result<bool> {
        let Self::Plain(socket) = self else { return Ok(false) };
        socket.set_read_timeout(Some(patience))?;
        socket.set_nonblocking(false)?;
        Ok(true)
    }

    /// Returns the address of this end of a TCP connection.
    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        let socket = match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &stream.socket,
        };
        match socket {
            Socket::Tcp(stream) => stream.local_addr().ok(),
            Socket::Unix(_) => None,
        }
    }

    /// Returns true if a layer above the socket may buffer bytes, so that only a read that would block shows that
    /// there are no more.
    #[inline]
    #[must_use]
    pub fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Returns true if bytes are buffered, so that the next read does not need a readable socket.
    #[inline]
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.has_buffered(),
        }
    }

    /// Returns true if written bytes still wait for room in the socket. Then wait until it is writable, and flush.
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
    /// Returns the socket for reads and writes that do not wait, whether or not it is non-blocking.
    #[inline]
    pub fn now(&mut self) -> Now<'_> {
        Now(self)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(nonblocking),
            Self::Tcp(stream) => stream.set_nonblocking(nonblocking),
        }
    }
}

/// A blocking stream that is read and written with a deadline.
pub(crate) trait Patient: Read + Write {
    /// Time limit of reads; `None` is forever.
    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;

    /// Time limit of writes; `None` is forever.
    fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()>;

    /// Reads once, and waits for bytes until `deadline`. Signals do not end the wait: a handled one, or a stop and a
    /// continuation of the process.
    fn read_by(&mut self, buf: &mut [u8], deadline: Deadline) -> io::Result<usize> {
        loop {
            if let Some(left) = deadline.remaining()? {
                self.set_read_timeout(Some(left))?;
            }
            match self.read(buf) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A blocking socket returns this after its timeout.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(io::ErrorKind::TimedOut.into()),
                other => return other,
            }
        }
    }

    /// Writes all of `bytes`, and waits for room in the socket until `deadline`.
    fn write_by(&mut self, bytes: &[u8], deadline: Deadline) -> io::Result<()> {
        let mut left = bytes;
        loop {
            self.set_write_timeout(deadline.remaining()?)?;
            let written = if left.is_empty() { self.flush().map(|()| 0) } else { self.write(left) };
            match written {
                Ok(_) if left.is_empty() => return Ok(()),
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => left = &left[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // As after a read: its timeout.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(io::ErrorKind::TimedOut.into()),
                Err(error) => return Err(error),
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

    fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_write_timeout(timeout),
            Self::Tcp(stream) => stream.set_write_timeout(timeout),
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

    fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.set_write_timeout(timeout),
            Self::Tls(stream) => stream.socket.set_write_timeout(timeout),
        }
    }
}

/// A closed peer is an error and never a signal. Apple lacks this flag: there it is set when the socket is created.
#[cfg(not(target_vendor = "apple"))]
const SEND: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
const SEND: SendFlags = SendFlags::empty();

/// Limit of pieces in one system call (`IOV_MAX`).
const MAX_PIECES: usize = 1024;

/// Only the system call: libc's support for cancelled threads costs as many instructions again as the rest. `recv` is
/// what `read` does for a socket, without the layer of the file system.
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

/// A socket whose reads and writes do not wait: [`io::ErrorKind::WouldBlock`].
#[derive(Debug)]
pub struct Now<'a>(&'a mut Socket);

impl Read for Now<'_> {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(&*self.0, buf, RecvFlags::DONTWAIT)?.0)
    }
}

impl Write for Now<'_> {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(&*self.0, buf, SEND.union(SendFlags::DONTWAIT))?)
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
