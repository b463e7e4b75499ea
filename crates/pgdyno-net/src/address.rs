//! Addresses of a server, and how to connect to them.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::host::{DEFAULT_SOCKET_DIRS, Host, HostPlace, socket_path};
use crate::interrupt::POLL_INTERVAL;
use crate::keepalive::Keepalive;
use crate::transport::Socket;
use crate::{Deadline, Interrupter};

/// A socket's path, or an IP address and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A path; a leading `@` is the abstract namespace.
    Unix(String),
    Tcp(SocketAddr),
}

impl Address {
    /// Returns all addresses of a host, in the order in which they are tried.
    pub(crate) fn all_of(host: &Host, interrupter: Option<&Interrupter>) -> io::Result<Vec<Self>> {
        Ok(match &host.place {
            HostPlace::DefaultSocket => {
                DEFAULT_SOCKET_DIRS.iter().map(|dir| Self::Unix(socket_path(dir, host.port))).collect()
            }
            HostPlace::Socket(dir) => vec![Self::Unix(socket_path(dir, host.port))],
            HostPlace::Tcp { addr: Some(addr), .. } => vec![Self::Tcp((*addr, host.port).into())],
            HostPlace::Tcp { name, addr: None } => {
                let (name, port) = (name.clone(), host.port);
                let look_up = move || Ok((name.as_str(), port).to_socket_addrs()?.map(Self::Tcp).collect());
                return match interrupter {
                    Some(interrupter) => interrupter.apart(look_up),
                    None => look_up(),
                };
            }
        })
    }

    /// Returns true for a default socket where everybody may make one, and ask for passwords, if it is that of an ordinary user.
    pub(crate) fn is_strangers(&self) -> bool {
        match self {
            Self::Unix(path) => path.starts_with("/tmp/") && !may_be_a_servers(Path::new(path)),
            Self::Tcp(_) => false,
        }
    }

    pub(crate) fn is_unix(&self) -> bool {
        matches!(self, Self::Unix(_))
    }

    /// Connects a blocking stream.
    pub(crate) fn connect(
        &self,
        deadline: Deadline,
        keepalive: &Keepalive,
        interrupter: Option<&Interrupter>,
    ) -> io::Result<Socket> {
        match self {
            Self::Unix(path) => connect_unix(path, deadline, interrupter).map(Socket::Unix),
            Self::Tcp(addr) => {
                let stream = connect_tcp(*addr, deadline, interrupter)?;
                stream.set_nodelay(true)?;
                keepalive.apply(&stream)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }
}

fn check(interrupter: Option<&Interrupter>) -> io::Result<()> {
    interrupter.map_or(Ok(()), Interrupter::check)
}

/// Interval between two looks at deadline and interrupter.
fn wait_until(deadline: Deadline) -> io::Result<Duration> {
    Ok(deadline.remaining()?.map_or(POLL_INTERVAL, |left| left.min(POLL_INTERVAL)))
}

#[cfg(target_os = "linux")]
fn connect_tcp(addr: SocketAddr, deadline: Deadline, interrupter: Option<&Interrupter>) -> io::Result<TcpStream> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &addr) {
        Err(Errno::INPROGRESS | Errno::INTR) => loop {
            check(interrupter)?;
            let wait = wait_until(deadline)?;
            let timespec = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&socket, PollFlags::OUT)], Some(&timespec)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => {
                    sockopt::socket_error(&socket)??;
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        },
        connected => connected?,
    }
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(not(target_os = "linux"))]
fn connect_tcp(addr: SocketAddr, deadline: Deadline, interrupter: Option<&Interrupter>) -> io::Result<TcpStream> {
    let timeout = deadline.remaining()?;
    let connect = move || match timeout {
        Some(timeout) => TcpStream::connect_timeout(&addr, timeout),
        None => TcpStream::connect(addr),
    };
    match interrupter {
        Some(interrupter) => interrupter.apart(connect),
        None => connect(),
    }
}

/// Returns false for a socket of an ordinary user: those of PostgreSQL belong to its account, to this user or to root.
fn may_be_a_servers(path: &Path) -> bool {
    let Ok(socket) = std::fs::symlink_metadata(path) else { return true };
    let owner = socket.uid();
    owner == 0 || owner == rustix::process::geteuid().as_raw() || Some(owner) == uid_of("postgres")
}

/// Returns the number of an account of this machine.
fn uid_of(account: &str) -> Option<u32> {
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut lines = accounts.lines().map(|line| line.split(':'));
    lines.find_map(|mut fields| (fields.next()? == account).then(|| fields.nth(1)?.parse().ok())?)
}

fn connect_unix(path: &str, deadline: Deadline, interrupter: Option<&Interrupter>) -> io::Result<UnixStream> {
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
    #[cfg(target_vendor = "apple")]
    sockopt::set_socket_nosigpipe(&socket, true)?;
    // A server whose queue of new connections is full makes connect() wait as long as a send may. A signal ends that
    // wait before there is a connection.
    loop {
        check(interrupter)?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(wait_until(deadline)?))?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) => break,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(other) => return Err(other.into()),
        }
    }
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, None)?;
    Ok(UnixStream::from(socket))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_of_another_user_is_no_default_server() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(".s.PGSQL.5432");
        assert!(may_be_a_servers(&path), "there is none");
        let _listener = UnixListener::bind(&path).unwrap();
        assert!(may_be_a_servers(&path), "it is this user's");
        if rustix::process::geteuid().is_root() {
            for (owner, may_be) in [(65_534, false), (0, true)] {
                std::os::unix::fs::lchown(&path, Some(owner), None).unwrap();
                assert_eq!(may_be_a_servers(&path), may_be, "{owner}");
            }
        }
        assert_eq!((uid_of("root"), uid_of("no-such-account")), (Some(0), None));
    }
}
