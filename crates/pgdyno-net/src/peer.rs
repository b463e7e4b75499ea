//! Name of a server in messages.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::address::Address;
use crate::host::{Host, HostPlace};

/// The server of an attempt. Shown as `host:port` or as the socket's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer(Arc<Inner>);

// Shared, because errors contain a peer and should stay small.
#[derive(Debug, PartialEq, Eq)]
struct Inner {
    shown: String,
    host: String,
    port: u16,
    /// Resolved address of the name; `None` for a socket, and if the user gave the address.
    looked_up: Option<IpAddr>,
    is_socket: bool,
}

impl Peer {
    pub(crate) fn new(host: &Host, address: &Address) -> Self {
        let port = host.port;
        Self(Arc::new(match address {
            Address::Unix(path) => Inner {
                shown: path.clone(),
                host: path.rsplit_once('/').map_or_else(String::new, |(directory, _)| directory.to_owned()),
                port,
                looked_up: None,
                is_socket: true,
            },
            Address::Tcp(address) => {
                let (name, looked_up) = match &host.place {
                    HostPlace::Tcp { addr: Some(given), .. } => (given.to_string(), None),
                    _ => (host.name().to_owned(), Some(address.ip())),
                };
                let looked_up = looked_up.filter(|ip| ip.to_string() != name);
                Inner { shown: host.describe(), host: name, port, looked_up, is_socket: false }
            }
        }))
    }

    /// Returns `host:port`, or the socket's path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.shown
    }

    /// Returns the name or address, or the directory of the socket.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.0.host
    }

    /// Returns the port, also of a socket.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// Returns the address that was connected to; `None` for a socket of the file system.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        let ip = self.0.looked_up.or_else(|| self.0.host.parse().ok());
        ip.filter(|_| !self.0.is_socket).map(|ip| SocketAddr::new(ip, self.0.port))
    }

    /// Returns it in the form of libpq's messages: `on socket "PATH"`, `at "HOST" (ADDRESS), port N`.
    #[must_use]
    pub fn in_libpq_words(&self) -> String {
        match (self.0.is_socket, self.0.looked_up) {
            (true, _) => format!("on socket \"{}\"", self.0.shown),
            (false, Some(ip)) => format!("at \"{}\" ({ip}), port {}", self.0.host, self.0.port),
            (false, None) => format!("at \"{}\", port {}", self.0.host, self.0.port),
        }
    }
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_looked_up_address_is_reported_and_a_given_one_is_not_repeated() {
        let tcp = |name: &str, addr: Option<&str>| {
            let place = HostPlace::Tcp { name: name.to_owned(), addr: addr.map(|a| a.parse().unwrap()) };
            let peer = Peer::new(&Host { place, port: 7 }, &Address::Tcp("127.0.0.1:7".parse().unwrap()));
            assert_eq!(peer.address(), Some("127.0.0.1:7".parse().unwrap()));
            (peer.to_string(), peer.in_libpq_words())
        };
        for (name, addr, shown, words) in [
            ("localhost", None, "localhost:7", "at \"localhost\" (127.0.0.1), port 7"),
            ("127.0.0.1", None, "127.0.0.1:7", "at \"127.0.0.1\", port 7"),
            ("db", Some("127.0.0.1"), "db:7", "at \"127.0.0.1\", port 7"),
        ] {
            assert_eq!(tcp(name, addr), (shown.to_owned(), words.to_owned()));
        }
        let host = Host { place: HostPlace::Socket("/tmp".to_owned()), port: 7 };
        let peer = Peer::new(&host, &Address::Unix("/tmp/.s.PGSQL.7".to_owned()));
        assert_eq!(peer.in_libpq_words(), "on socket \"/tmp/.s.PGSQL.7\"");
        assert_eq!((peer.host(), peer.port(), peer.address()), ("/tmp", 7, None));
    }
}
