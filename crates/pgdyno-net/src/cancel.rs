//! Stopping what a connection is doing.

use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use pgdyno_wire::frontend;

use crate::Secret;
use crate::address::Address;
use crate::channel::Channel;
use crate::options::Keepalive;
use crate::tls::{Dialed, Dialer};
use crate::transport::{Socket, Transport};

/// How long a cancel request may take: the server does no more than send a signal.
const PATIENCE: Duration = Duration::from_secs(10);

/// Cancels the running statement of one connection, from any thread. It stays valid as long as the
/// connection does.
#[derive(Clone, Debug)]
pub struct CancelHandle {
    pub(crate) address: Address,
    pub(crate) process_id: i32,
    pub(crate) secret_key: Secret<Vec<u8>>,
    pub(crate) keepalive: Keepalive,
    /// How the connection got its TLS, if it has it.
    pub(crate) dialer: Option<Dialer>,
}

impl CancelHandle {
    /// The process id of the server's backend, as in `pg_stat_activity`.
    #[must_use]
    pub fn process_id(&self) -> i32 {
        self.process_id
    }

    /// Opens a new connection to the same address, in the same way, and asks to cancel. Returns once the
    /// server has read the request; whether there was anything to cancel it does not say.
    ///
    /// # Errors
    /// When the server cannot be reached within ten seconds.
    pub fn cancel(&self) -> io::Result<()> {
        let deadline = Some(Instant::now() + PATIENCE);
        let transport = match (self.address.connect(deadline, &self.keepalive)?, &self.dialer) {
            (Socket::Tcp(tcp), Some(dialer)) => match dialer.dial(tcp, deadline)? {
                Dialed::Tls(stream) => Transport::Tls(stream),
                // The key of the connection must not be readable on its way.
                Dialed::Plain(_) => {
                    return Err(io::Error::other("the server no longer offers TLS"));
                }
            },
            (socket, _) => Transport::Plain(socket),
        };
        let mut channel = Channel::new(transport, deadline);
        let mut out = Vec::new();
        frontend::cancel_request(&mut out, self.process_id, self.secret_key.reveal());
        channel.send(&out)?;
        // The server answers by closing the connection, after it has sent the signal.
        channel.transport.set_read_timeout(Some(PATIENCE))?;
        match channel.transport.read(&mut [0; 16]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(io::ErrorKind::TimedOut.into()),
            // A reset, too, means that it was read.
            _ => Ok(()),
        }
    }
}
