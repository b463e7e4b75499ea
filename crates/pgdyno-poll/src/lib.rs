//! Waiting for sockets, timers and a wake-up from another thread.
//!
//! Linux: epoll, edge-triggered, with a timeout in nanoseconds. Elsewhere: the `polling` crate (kqueue and
//! others), level-triggered. Both have the same shape, and the same tests run over both. See
//! docs/adr/0002-poller.md.

#[cfg(target_os = "linux")]
mod epoll;
#[cfg(any(not(target_os = "linux"), test))]
pub mod portable;

#[cfg(target_os = "linux")]
pub use epoll::{Poller, Waker};
#[cfg(not(target_os = "linux"))]
pub use portable::{Poller, Waker};

/// An event of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Key that the socket was added with.
    pub key: usize,
    /// Whether it has room to write. Set only while [`Poller::want_write`] asks for it.
    pub writable: bool,
    /// Whether there may be something to read.
    pub readable: bool,
    /// Whether the peer closed its end: reading what is left ends with the end of the stream.
    pub closed: bool,
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Mutex;
    use std::time::Duration;

    static ALONE: Mutex<()> = Mutex::new(());

    macro_rules! poller_tests {
        ($($name:ident => $module:ident),*) => {$(
            mod $name {
                use super::*;
                use crate::$module::Poller;

                fn wait(poller: &mut Poller, ms: u64) -> Vec<crate::Ready> {
                    let mut ready = Vec::new();
                    poller.wait(Some(Duration::from_millis(ms)), &mut ready).unwrap();
                    ready
                }

                #[test]
                fn bytes_make_a_socket_readable() {
                    let (mut a, mut b) = UnixStream::pair().unwrap();
                    let mut poller = Poller::new().unwrap();
                    poller.add(b.as_fd(), 7).unwrap();
                    assert_eq!(wait(&mut poller, 0), []);
                    a.write_all(b"x").unwrap();
                    let ready = wait(&mut poller, 10_000);
                    assert!(ready.len() == 1 && ready[0].key == 7 && ready[0].readable, "{ready:?}");
                    b.read_exact(&mut [0]).unwrap();
                    a.write_all(b"y").unwrap();
                    assert_eq!(wait(&mut poller, 10_000).len(), 1, "a second time");
                }

                #[test]
                fn wait_returns_whether_more_events_may_be_pending() {
                    const SOCKETS: usize = 600;
                    // Many users may open 1,024 files: not for both pollers at once.
                    let _alone = ALONE.lock();
                    let mut poller = Poller::new().unwrap();
                    let readable = |key| {
                        let (ours, mut theirs) = UnixStream::pair().unwrap();
                        theirs.write_all(b"x").unwrap();
                        poller.add(ours.as_fd(), key).unwrap();
                        ours
                    };
                    let sockets: Vec<_> = (0..SOCKETS).map(readable).collect();
                    let mut reported = std::collections::BTreeSet::new();
                    let mut more = true;
                    while more {
                        let mut ready = Vec::new();
                        more = poller.wait(Some(Duration::ZERO), &mut ready).unwrap();
                        for event in ready {
                            reported.insert(event.key);
                            poller.remove(sockets[event.key].as_fd()).unwrap();
                        }
                    }
                    assert_eq!(reported.len(), SOCKETS);
                    assert_eq!(wait(&mut poller, 0), []);
                }

                #[test]
                fn a_closed_peer_is_an_event() {
                    let (a, b) = UnixStream::pair().unwrap();
                    let mut poller = Poller::new().unwrap();
                    poller.add(b.as_fd(), 1).unwrap();
                    drop(a);
                    let ready = wait(&mut poller, 10_000);
                    assert!(ready[0].readable, "{ready:?}");
                }

                #[test]
                fn writability_is_reported_only_while_asked_for() {
                    let (_a, b) = UnixStream::pair().unwrap();
                    let mut poller = Poller::new().unwrap();
                    poller.add(b.as_fd(), 1).unwrap();
                    assert_eq!(wait(&mut poller, 0), []);
                    poller.want_write(b.as_fd(), 1, true).unwrap();
                    assert!(wait(&mut poller, 10_000)[0].writable);
                    poller.want_write(b.as_fd(), 1, false).unwrap();
                    assert_eq!(wait(&mut poller, 0), []);
                }

                #[test]
                fn a_removed_socket_is_silent() {
                    let (mut a, b) = UnixStream::pair().unwrap();
                    let mut poller = Poller::new().unwrap();
                    poller.add(b.as_fd(), 1).unwrap();
                    poller.remove(b.as_fd()).unwrap();
                    a.write_all(b"x").unwrap();
                    assert_eq!(wait(&mut poller, 0), []);
                }

                #[test]
                fn a_wake_up_from_another_thread_ends_the_wait() {
                    let mut poller = Poller::new().unwrap();
                    let waker = poller.waker();
                    let thread = std::thread::spawn(move || waker.wake());
                    let mut ready = Vec::new();
                    poller.wait(None, &mut ready).unwrap();
                    assert_eq!(ready, []);
                    thread.join().unwrap();
                }

                #[test]
                fn a_wait_ends_at_its_timeout() {
                    let mut poller = Poller::new().unwrap();
                    let mut ready = Vec::new();
                    poller.wait(Some(Duration::from_micros(300)), &mut ready).unwrap();
                    assert_eq!(ready, []);
                }
            }
        )*};
    }

    #[cfg(target_os = "linux")]
    poller_tests!(on_epoll => epoll);
    poller_tests!(on_polling => portable);
}
