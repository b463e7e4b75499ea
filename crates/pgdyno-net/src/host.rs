//! The servers of a connection string.

use std::net::IpAddr;

use crate::conninfo::Values;
use crate::{ConninfoError, Secret};

/// libpq's default port.
const DEFAULT_PORT: u16 = 5432;

/// The socket directories of Debian's libpq and of one built from source.
pub(crate) const DEFAULT_SOCKET_DIRS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Location of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostPlace {
    /// The default socket directories.
    DefaultSocket,
    /// A socket in this directory; a leading `@` is the abstract namespace.
    Socket(String),
    /// Over TCP: the name, and the address if given.
    Tcp { name: String, addr: Option<IpAddr> },
}

/// A server to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) place: HostPlace,
    pub(crate) port: u16,
}

impl Host {
    /// Returns it as libpq shows it: a socket directory, a name or an address.
    pub(crate) fn name(&self) -> &str {
        match &self.place {
            HostPlace::DefaultSocket => DEFAULT_SOCKET_DIRS[0],
            HostPlace::Socket(dir) => dir,
            HostPlace::Tcp { name, .. } => name,
        }
    }

    /// Returns the address that was given beside its name; empty without one.
    pub(crate) fn given_address(&self) -> String {
        match &self.place {
            HostPlace::Tcp { name, addr: Some(addr) } if addr.to_string() != *name => addr.to_string(),
            _ => String::new(),
        }
    }

    /// Returns its name in the password file.
    pub(crate) fn passfile_name(&self) -> &str {
        match &self.place {
            HostPlace::DefaultSocket => "localhost",
            HostPlace::Socket(dir) if DEFAULT_SOCKET_DIRS.contains(&dir.as_str()) => "localhost",
            HostPlace::Socket(dir) => dir,
            HostPlace::Tcp { name, .. } => name,
        }
    }

    /// Returns its name in messages: `name:port`, or the socket.
    pub(crate) fn describe(&self) -> String {
        match &self.place {
            HostPlace::Tcp { name, .. } if name.contains(':') => format!("[{name}]:{}", self.port),
            HostPlace::Tcp { name, .. } => format!("{name}:{}", self.port),
            HostPlace::DefaultSocket | HostPlace::Socket(_) => socket_path(self.name(), self.port),
        }
    }
}

/// Returns the socket of a server on `port`.
pub(crate) fn socket_path(dir: &str, port: u16) -> String {
    format!("{}/.s.PGSQL.{port}", dir.trim_end_matches('/'))
}

/// Parses `host`, `hostaddr` and `port`, which may be lists of the same length.
pub(crate) fn hosts(values: &Values) -> Result<Vec<Host>, ConninfoError> {
    let list = |key| -> Vec<&str> { values.non_empty(key).map_or_else(Vec::new, |v| v.split(',').collect()) };
    let (names, addrs, ports) = (list("host"), list("hostaddr"), list("port"));
    let count = names.len().max(addrs.len()).max(1);
    if !names.is_empty() && !addrs.is_empty() && names.len() != addrs.len() {
        return Err(ConninfoError::ListLength { hosts: names.len(), others: addrs.len(), what: "host addresses" });
    }
    if ports.len() > 1 && ports.len() != count {
        return Err(ConninfoError::ListLength { hosts: count, others: ports.len(), what: "ports" });
    }
    (0..count)
        .map(|i| {
            let name = names.get(i).copied().unwrap_or_default();
            let addr = addrs.get(i).copied().unwrap_or_default();
            let text = ports.get(i).or(ports.first()).copied().unwrap_or_default();
            Ok(Host { place: place(name, addr)?, port: port(text)? })
        })
        .collect()
}

fn place(name: &str, addr: &str) -> Result<HostPlace, ConninfoError> {
    let addr: Option<IpAddr> = match addr {
        "" => None,
        text => Some(text.parse().map_err(|_| ConninfoError::Invalid {
            name: "hostaddr",
            value: text.to_owned(),
            expected: "an IPv4 or IPv6 address".into(),
        })?),
    };
    Ok(match (name, addr) {
        ("", None) => HostPlace::DefaultSocket,
        ("", Some(addr)) => HostPlace::Tcp { name: addr.to_string(), addr: Some(addr) },
        (dir, None) if dir.starts_with(['/', '@']) => HostPlace::Socket(dir.to_owned()),
        (name, addr) => HostPlace::Tcp { name: name.to_owned(), addr },
    })
}

pub(crate) fn port(text: &str) -> Result<u16, ConninfoError> {
    match text.trim() {
        "" => Ok(DEFAULT_PORT),
        // The text is not shown: after an unencoded '/' in a URI's password it is part of that.
        text => text.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
            ConninfoError::Syntax(
                "a port is not a number between 1 and 65535 (in a URI, ':', '/', '@' and '%' in a \
                 password must be percent-encoded)"
                    .into(),
            )
        }),
    }
}

/// Returns true if one password is set for all hosts; if not, it is looked up for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passwords {
    pub(crate) given: Option<Secret>,
    pub(crate) file: std::sync::Arc<crate::conninfo::PassFile>,
}
