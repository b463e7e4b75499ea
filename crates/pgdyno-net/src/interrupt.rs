//! Ends waits for servers from another thread.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::Shutdown;

/// Interval of looks at the flag, for waits that cannot be woken.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Ends every wait for a server: closes connections that were opened under it, and opens no more. For programs that
/// must end even if a server, or the network, is silent. An [`crate::Admin`] that waits for a statement cancels it.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    interrupted: AtomicBool,
    sockets: Mutex<Sockets>,
}

#[derive(Debug, Default)]
struct Sockets {
    next: u64,
    open: BTreeMap<u64, OwnedFd>,
}

impl Interrupter {
    /// Returns one that has not interrupted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Interrupts, for good. From any thread.
    pub fn interrupt(&self) {
        let sockets = self.sockets();
        self.0.interrupted.store(true, Ordering::Release);
        for socket in sockets.open.values() {
            // A closed connection has nothing to wait for.
            let _ = rustix::net::shutdown(socket, Shutdown::Both);
        }
    }

    /// Returns true if it has interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.0.interrupted.load(Ordering::Acquire)
    }

    fn sockets(&self) -> MutexGuard<'_, Sockets> {
        // The list is consistent at every moment, even after a panic.
        self.0.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches a socket until the returned value is dropped.
    pub(crate) fn watch(&self, socket: impl AsFd) -> io::Result<Watched> {
        let socket = socket.as_fd().try_clone_to_owned()?;
        let mut sockets = self.sockets();
        self.check()?;
        let id = sockets.next;
        sockets.next += 1;
        sockets.open.insert(id, socket);
        drop(sockets);
        Ok(Watched { id, interrupter: self.clone() })
    }

    /// Returns an error if it has interrupted.
    pub(crate) fn check(&self) -> io::Result<()> {
        match self.is_interrupted() {
            true => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "interrupted")),
            false => Ok(()),
        }
    }

    /// Runs a task that cannot be interrupted on a thread of its own, which is abandoned when this interrupts.
    pub(crate) fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (done, end) = mpsc::channel();
        std::thread::Builder::new().name("pgdyno-connect".to_owned()).spawn(move || done.send(work()))?;
        loop {
            self.check()?;
            match end.recv_timeout(POLL_INTERVAL) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the thread that does it died")),
            }
        }
    }
}

/// A socket that an [`Interrupter`] watches.
#[derive(Debug)]
pub(crate) struct Watched {
    id: u64,
    interrupter: Interrupter,
}

impl Watched {
    /// Returns true if the wait for it was ended.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupter.is_interrupted()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.interrupter.sockets().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_waits_is_woken_and_nothing_waits_after() {
        let interrupter = Interrupter::new();
        let (mut ours, _theirs) = UnixStream::pair().unwrap();
        let watched = interrupter.watch(&ours).unwrap();
        let reading = std::thread::spawn(move || ours.read(&mut [0; 1]).unwrap());
        interrupter.interrupt();
        assert_eq!(reading.join().unwrap(), 0);
        drop(watched);
        assert!(interrupter.sockets().open.is_empty());
        let (again, _other) = UnixStream::pair().unwrap();
        assert!(interrupter.watch(&again).is_err() && interrupter.is_interrupted());
    }

    #[test]
    fn work_that_nobody_can_interrupt_is_left_behind() {
        let interrupter = Interrupter::new();
        assert_eq!(interrupter.apart(|| Ok(7)).unwrap(), 7);
        let (_hold, held) = mpsc::channel::<()>();
        let of_other = interrupter.clone();
        let waiting = std::thread::spawn(move || {
            of_other.apart(move || {
                let _ = held.recv();
                Ok(())
            })
        });
        interrupter.interrupt();
        assert!(waiting.join().unwrap().is_err());
    }
}
