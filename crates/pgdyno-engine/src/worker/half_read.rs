//! Sockets with more to read than one turn takes: the clock, the timers and the other clients come in between.

use std::io;

use pgdyno_poll::Ready;

use super::Worker;
use crate::Tick;

impl Worker<'_> {
    /// Notes a socket that may have more to read.
    #[cold]
    pub(super) fn leave_half_read(&mut self, event: Ready) {
        if let Some(link) = &mut self.links[event.key] {
            link.half_read = true;
            self.half_read.push(Ready { writable: false, ..event });
        }
    }

    /// Reads these sockets, each as far as a turn takes.
    #[cold]
    pub(super) fn read_on(&mut self, now: &mut Tick) -> io::Result<()> {
        for event in std::mem::take(&mut self.half_read) {
            // The connection may be closed by now, and replaced by another one.
            if self.links[event.key].as_mut().is_some_and(|link| std::mem::take(&mut link.half_read)) {
                let since = Some(*now);
                self.on_ready(event, since, now)?;
            }
        }
        Ok(())
    }
}
