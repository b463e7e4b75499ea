//! Classes of failed attempts to connect: what an outage looked like to the clients.

use std::io::ErrorKind;

use crate::ConnectError;

/// How an attempt to connect to one server failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttemptClass {
    /// Nothing listened there.
    Refused,
    /// No answer came in time, or no way led there.
    TimedOut,
    /// The connection was lost while it was being opened.
    Reset,
    /// The server was starting up, shutting down or recovering.
    NotReady,
    /// The server had another role than `target_session_attrs` asks for.
    WrongRole,
    /// The server had no connection left.
    Full,
    /// The server did not accept the client, or the client the server.
    NotAccepted,
    /// Anything else.
    Other,
}

impl AttemptClass {
    /// Returns its name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::TimedOut => "timed-out",
            Self::Reset => "reset",
            Self::NotReady => "not-ready",
            Self::WrongRole => "wrong-role",
            Self::Full => "full",
            Self::NotAccepted => "not-accepted",
            Self::Other => "other",
        }
    }
}

impl ConnectError {
    /// Returns the class of the attempt; of several addresses, one for each that was tried.
    #[must_use]
    pub fn attempts(&self) -> Vec<AttemptClass> {
        let class = match self {
            Self::All(errors) | Self::NoSuitableHost { reasons: errors, .. } => {
                return errors.iter().flat_map(Self::attempts).collect();
            }
            Self::Unreachable { source, .. } => match source.kind() {
                ErrorKind::ConnectionRefused | ErrorKind::NotFound => AttemptClass::Refused,
                ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable | ErrorKind::TimedOut => {
                    AttemptClass::TimedOut
                }
                ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                    AttemptClass::Reset
                }
                _ => AttemptClass::Other,
            },
            Self::Timeout { .. } => AttemptClass::TimedOut,
            Self::Lost { .. } => AttemptClass::Reset,
            Self::NotReady { .. } => AttemptClass::NotReady,
            Self::Unsuitable { .. } => AttemptClass::WrongRole,
            Self::TooManyConnections { .. } => AttemptClass::Full,
            Self::NoPassword { .. } | Self::WrongPassword { .. } | Self::Refused { .. } | Self::Auth { .. } => {
                AttemptClass::NotAccepted
            }
            Self::Certificate { .. } | Self::NoDatabase { .. } => AttemptClass::NotAccepted,
            // A server that is being shut down or crashes says so in the middle of the startup.
            Self::Server { source, .. } if source.code.as_str().starts_with("57P") => AttemptClass::NotReady,
            _ => AttemptClass::Other,
        };
        vec![class]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Peer;
    use crate::address::Address;
    use crate::host::{Host, HostPlace};

    #[test]
    fn each_address_that_was_tried_has_a_class() {
        let place = HostPlace::Socket("/tmp".to_owned());
        let peer = || Peer::new(&Host { place: place.clone(), port: 7 }, &Address::Unix("/tmp/.s.PGSQL.7".to_owned()));
        let unreachable = |kind: ErrorKind| ConnectError::Unreachable { peer: peer(), source: kind.into() };
        let tried = ConnectError::NoSuitableHost {
            wanted: "read-write",
            reasons: vec![
                ConnectError::Unsuitable { peer: peer(), reason: "the server is read-only" },
                ConnectError::All(vec![
                    unreachable(ErrorKind::ConnectionRefused),
                    unreachable(ErrorKind::HostUnreachable),
                ]),
                ConnectError::Lost { peer: peer(), source: ErrorKind::ConnectionReset.into() },
            ],
        };
        let names: Vec<_> = tried.attempts().into_iter().map(AttemptClass::name).collect();
        assert_eq!(names, ["wrong-role", "refused", "timed-out", "reset"]);
    }
}
