//! epoll, edge-triggered: sockets without events cost the kernel no work.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, epoll, eventfd};

use crate::Ready;

const WAKE: u64 = u64::MAX;
const MAX_EVENTS: usize = 512;

/// Watches the sockets of one thread.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    wake: Arc<OwnedFd>,
    events: Vec<libc::epoll_event>,
    /// Whether the kernel has `epoll_pwait2` (Linux 5.11); cleared when it says that it has not.
    nanoseconds: bool,
}

/// Ends a poller's wait from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// Ends the wait. Callable from any thread, any number of times.
    pub fn wake(&self) {
        // The only failure is a full counter, and then the poller wakes anyway.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }
}

fn interest(write: bool) -> epoll::EventFlags {
    let read = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    // EPOLLOUT only after a short write: otherwise each byte that the server reads would wake this thread.
    if write { read | epoll::EventFlags::OUT } else { read }
}

impl Poller {
    /// Returns a poller that watches nothing yet.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &wake, epoll::EventData::new_u64(WAKE), epoll::EventFlags::IN)?;
        let events = vec![libc::epoll_event { events: 0, u64: 0 }; MAX_EVENTS];
        Ok(Self { epoll, wake: Arc::new(wake), events, nanoseconds: true })
    }

    /// Returns what ends this poller's wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.wake))
    }

    /// Watches a socket for bytes. Its events carry `key`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn add(&self, fd: BorrowedFd<'_>, key: usize) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, epoll::EventData::new_u64(key as u64), interest(false))?)
    }

    /// Starts or stops watching a socket for room to write.
    ///
    /// # Errors
    /// When the socket is not watched.
    pub fn want_write(&self, fd: BorrowedFd<'_>, key: usize, write: bool) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, fd, epoll::EventData::new_u64(key as u64), interest(write))?)
    }

    /// Stops watching a socket. Call this before closing it.
    ///
    /// # Errors
    /// When the socket is not watched.
    pub fn remove(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    /// Waits for events or `timeout` and appends the events to `ready`. Returns whether more events may be pending.
    ///
    /// # Errors
    /// When the system refuses. An interrupted wait is no error.
    pub fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<bool> {
        let count = match self.wait_events(timeout) {
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => 0,
            Err(e) => return Err(e),
        };
        for event in &self.events[..count] {
            let (key, flags) = (event.u64, event.events as i32);
            if key == WAKE {
                let _ = rustix::io::read(self.wake.as_fd(), &mut [0u8; 8]);
                continue;
            }
            ready.push(Ready {
                key: key as usize,
                writable: flags & libc::EPOLLOUT != 0,
                readable: flags & !libc::EPOLLOUT != 0,
                closed: flags & (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) != 0,
            });
        }
        Ok(count == MAX_EVENTS)
    }

    /// Calls `epoll_wait` where milliseconds suffice, else `epoll_pwait2`.
    fn wait_events(&mut self, timeout: Option<Duration>) -> io::Result<usize> {
        let whole_ms = timeout.is_none_or(|t| t.is_zero() || t >= Duration::from_secs(1) && t.subsec_nanos() == 0);
        if !whole_ms && self.nanoseconds {
            let timeout = timeout.unwrap_or_default();
            let timespec = libc::timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos().into() };
            // SAFETY: `events` is valid for MAX_EVENTS entries and `timespec` for the call.
            let count = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    self.epoll.as_raw_fd(),
                    self.events.as_mut_ptr(),
                    MAX_EVENTS as libc::c_int,
                    &raw const timespec,
                    std::ptr::null::<libc::sigset_t>(),
                    0usize,
                )
            };
            match usize::try_from(count) {
                Ok(count) => return Ok(count),
                Err(_) => match io::Error::last_os_error() {
                    // Unknown to the kernel, or forbidden by a container's filter.
                    e if matches!(e.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => self.nanoseconds = false,
                    e => return Err(e),
                },
            }
        }
        let ms = timeout.map_or(-1, |t| t.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i32);
        // SAFETY: `events` is valid for MAX_EVENTS entries.
        let count = unsafe {
            libc::epoll_wait(self.epoll.as_raw_fd(), self.events.as_mut_ptr(), MAX_EVENTS as libc::c_int, ms)
        };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }
}
