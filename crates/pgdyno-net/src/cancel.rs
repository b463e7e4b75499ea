//! Cancels statements.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pgdyno_wire::frontend;

use crate::address::Address;
use crate::channel::Channel;
use crate::keepalive::Keepalive;
use crate::tls::{Dialed, Dialer};
use crate::transport::{Patient as _, Transport};
use crate::{Deadline, Interrupter, Secret};

/// Time limit of a cancel request: the server only sends a signal.
const PATIENCE: Duration = Duration::from_secs(10);

/// Limit of concurrent cancel requests.
const AT_ONCE: usize = 32;

/// Cancels the running statement of one connection, from any thread. Valid as long as the connection.
#[derive(Clone, Debug)]
pub struct CancelHandle {
    pub(crate) address: Address,
    pub(crate) process_id: i32,
    pub(crate) secret_key: Secret<Vec<u8>>,
    pub(crate) keepalive: Keepalive,
    /// How the connection negotiated TLS, if it did.
    pub(crate) dialer: Option<Dialer>,
}

impl CancelHandle {
    /// Returns the process id of the server's backend, as in `pg_stat_activity`.
    #[must_use]
    pub fn process_id(&self) -> i32 {
        self.process_id
    }

    /// Opens a new connection to the same address, in the same way, and requests the cancellation. Returns after the
    /// server has read the request; it does not say whether it cancelled anything.
    ///
    /// # Errors
    /// When the server cannot be reached within ten seconds.
    pub fn cancel(&self) -> io::Result<()> {
        self.cancel_by(Deadline::after(PATIENCE), None)
    }

    pub(crate) fn cancel_by(&self, deadline: Deadline, interrupter: Option<&Interrupter>) -> io::Result<()> {
        let socket = self.address.connect(deadline, &self.keepalive, interrupter)?;
        let _watched = interrupter.map(|interrupter| interrupter.watch(&socket)).transpose()?;
        let transport = match &self.dialer {
            Some(dialer) => match dialer.dial(socket, deadline)? {
                Dialed::Tls(stream) => Transport::Tls(stream),
                // The key of the connection must not be readable on its way.
                Dialed::Plain(_) => {
                    return Err(io::Error::other("the server no longer offers TLS"));
                }
            },
            None => Transport::Plain(socket),
        };
        let mut channel = Channel::new(transport, deadline);
        let mut out = Vec::new();
        frontend::cancel_request(&mut out, self.process_id, self.secret_key.reveal());
        channel.send(&out)?;
        // The server closes the connection after it has sent the signal.
        match channel.transport.read_by(&mut [0; 16], deadline) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(error),
            // A reset, too, means that it was read.
            _ => Ok(()),
        }
    }
}

/// Cancels the statements of all these connections, side by side. Ends within `patience`, however many there are, and
/// at once when `interrupter` interrupts: requests that the server has not read by then may be lost.
pub fn cancel_all(handles: &[CancelHandle], patience: Duration, interrupter: &Interrupter) {
    let end = Instant::now() + patience;
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(handle) = handles.get(next.fetch_add(1, Ordering::Relaxed)) {
            let now = Instant::now();
            if now >= end || interrupter.is_interrupted() {
                return;
            }
            // The remaining requests share the remaining time.
            let left = handles.len().saturating_sub(next.load(Ordering::Relaxed)) + AT_ONCE;
            let share = (end - now) / u32::try_from(left / AT_ONCE).unwrap_or(u32::MAX);
            // Nothing is left to do after a failure: the connection is closed next.
            let _ = handle.cancel_by(Deadline::at(now + share), Some(interrupter));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..AT_ONCE.min(handles.len()) {
            // If no more threads can be started, fewer do it.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}
