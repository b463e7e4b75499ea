//! The `polling` crate: kqueue on macOS and the BSDs.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use polling::{Event, Events, PollMode};

use crate::Ready;

/// Watches the sockets of one thread.
#[derive(Debug)]
pub struct Poller {
    poller: Arc<polling::Poller>,
    events: Events,
}

/// Ends a poller's wait from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<polling::Poller>);

impl Waker {
    /// Ends the wait. Callable from any thread, any number of times.
    pub fn wake(&self) {
        // After a failure the poller still wakes at its timeout.
        drop(self.0.notify());
    }
}

impl Poller {
    /// Returns a poller that watches nothing yet.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        Ok(Self { poller: Arc::new(polling::Poller::new()?), events: Events::new() })
    }

    /// Returns what ends this poller's wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.poller))
    }

    /// Watches a socket for bytes. Its events carry `key`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn add(&self, fd: BorrowedFd<'_>, key: usize) -> io::Result<()> {
        // SAFETY: the worker removes a socket from the poller before it closes it.
        unsafe { self.poller.add_with_mode(fd.as_raw_fd(), Event::readable(key), PollMode::Level) }
    }

    /// Starts or stops watching a socket for room to write.
    ///
    /// # Errors
    /// When the socket is not watched.
    pub fn want_write(&self, fd: BorrowedFd<'_>, key: usize, write: bool) -> io::Result<()> {
        let interest = Event::new(key, true, write);
        self.poller.modify_with_mode(fd, interest, PollMode::Level)
    }

    /// Stops watching a socket. Call this before closing it.
    ///
    /// # Errors
    /// When the socket is not watched.
    pub fn remove(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.poller.delete(fd)
    }

    /// Waits for events or `timeout` and appends the events to `ready`. Returns whether more events may be pending.
    ///
    /// # Errors
    /// When the system refuses. An interrupted wait is no error.
    pub fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<bool> {
        self.events.clear();
        let count = self.poller.wait(&mut self.events, timeout)?;
        ready.extend(self.events.iter().map(|e| Ready {
            key: e.key,
            writable: e.writable,
            readable: e.readable,
            closed: false,
        }));
        Ok(count >= self.events.capacity().get())
    }
}
