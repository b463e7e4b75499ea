//! A thread with one connection waits for the reply in the read itself: a poller costs a system call for each reply, and the
//! kernel the work of two queues.

use std::io;
use std::time::Duration;

use pgdyno_poll::Ready;

use super::Worker;
use crate::Tick;

/// The longest wait in a read. Meanwhile the ends of intervals and a stop are not noticed.
pub(super) const PATIENCE: Duration = Duration::from_millis(20);

impl Worker<'_> {
    /// Returns true if nothing but the reply to the only client is to be waited for after `now`.
    #[inline]
    pub(super) fn waits_for_reply(&self, now: Tick) -> bool {
        self.links.first().and_then(Option::as_ref).is_some_and(|link| link.waits && !link.blocked && !link.half_read)
            && self.awaited == 0
            && !self.coalescing.is_on()
            && self.timeout(now).is_none()
    }

    /// Waits for the reply, and serves it. If there is none for a while, only the time has passed.
    #[inline]
    pub(super) fn wait_for_reply(&mut self, now: &mut Tick) -> io::Result<()> {
        if let Some(link) = &mut self.links[0] {
            link.is_waited_for = true;
        }
        self.on_ready(Ready { key: 0, writable: false, readable: true, closed: false }, None, now)
    }
}
