//! One address of a server, and how to get a stream to it.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::host::{DEFAULT_SOCKET_DIRS, Host, Place, socket_path};
use crate::options::Keepalive;
use crate::transport::Socket;

/// A socket's path, or an IP address and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A path; a leading `@` is the abstract namespace.
    Unix(String),
    Tcp(SocketAddr),
}

impl Address {
    /// All addresses of a host, in the order in which they are to be tried.
    pub(crate) fn all_of(host: &Host) -> io::Result<Vec<Self>> {
        Ok(match &host.place {
            Place::DefaultSocket => {
                DEFAULT_SOCKET_DIRS.iter().map(|dir| Self::Unix(socket_path(dir, host.port))).collect()
            }
            Place::Socket(dir) => vec![Self::Unix(socket_path(dir, host.port))],
            Place::Tcp { addr: Some(addr), .. } => vec![Self::Tcp((*addr, host.port).into())],
            Place::Tcp { name, addr: None } => (name.as_str(), host.port).to_socket_addrs()?.map(Self::Tcp).collect(),
        })
    }

    pub(crate) fn is_unix(&self) -> bool {
        matches!(self, Self::Unix(_))
    }

    /// A stream to it, blocking.
    pub(crate) fn connect(&self, deadline: Option<Instant>, keepalive: &Keepalive) -> io::Result<Socket> {
        match self {
            Self::Unix(path) => connect_unix(path, deadline).map(Socket::Unix),
            Self::Tcp(addr) => {
                let stream = match remaining(deadline)? {
                    Some(timeout) => TcpStream::connect_timeout(addr, timeout)?,
                    None => TcpStream::connect(addr)?,
                };
                stream.set_nodelay(true)?;
                keepalive.apply(&stream)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }
}

/// The time that is left; an error when it is over.
pub(crate) fn remaining(deadline: Option<Instant>) -> io::Result<Option<Duration>> {
    let Some(deadline) = deadline else {
        return Ok(None);
    };
    match deadline.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
        left => Ok(Some(left)),
    }
}

fn connect_unix(path: &str, deadline: Option<Instant>) -> io::Result<UnixStream> {
    let address = match path.strip_prefix('@') {
        #[cfg(target_os = "linux")]
        Some(name) => SocketAddrUnix::new_abstract_name(name.as_bytes())?,
        #[cfg(not(target_os = "linux"))]
        Some(_) => return Err(io::ErrorKind::Unsupported.into()),
        None => SocketAddrUnix::new(path)?,
    };
    let socket = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        #[cfg(target_os = "linux")]
        SocketFlags::CLOEXEC,
        #[cfg(not(target_os = "linux"))]
        SocketFlags::empty(),
        None,
    )?;
    // A server whose queue of new connections is full makes connect() wait, for as long as a send may.
    let timeout = remaining(deadline)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, timeout)?;
    rustix::net::connect(&socket, &address).map_err(|error| match error {
        rustix::io::Errno::AGAIN => io::Error::from(io::ErrorKind::TimedOut),
        other => other.into(),
    })?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, None)?;
    Ok(UnixStream::from(socket))
}

impl Keepalive {
    fn apply(&self, stream: &TcpStream) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(ms) = self.user_timeout_ms {
            sockopt::set_tcp_user_timeout(stream, ms)?;
        }
        if !self.enabled {
            return Ok(());
        }
        sockopt::set_socket_keepalive(stream, true)?;
        if let Some(idle) = self.idle {
            sockopt::set_tcp_keepidle(stream, idle)?;
        }
        if let Some(interval) = self.interval {
            sockopt::set_tcp_keepintvl(stream, interval)?;
        }
        if let Some(count) = self.count {
            sockopt::set_tcp_keepcnt(stream, count)?;
        }
        Ok(())
    }
}
