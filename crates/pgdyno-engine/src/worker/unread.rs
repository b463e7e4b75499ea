//! How long replies may have lain unread.
//!
//! A poller says that a socket is ready, not since when. What bounds it from below is the last moment at which the poller
//! had told of *every* socket that was ready: one that it tells of later became ready after that. A call that could tell of
//! more than it had room for is no such moment, and a call that had to wait found nothing ready before it waited.

use crate::Tick;

/// A thread that was busy for longer than this asks without waiting first: what is ready then was ready while it was busy.
/// What came within a shorter time counts from the wake, too late by this at most.
const GLANCE_NS: u64 = 100_000;

/// What a thread knows of the replies that it has not read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// The last moment at which the poller had told of all that was ready.
    all_told: Tick,
    /// Whether the poller had no room for all in its last answer.
    more: bool,
}

impl Unread {
    /// Whether the poller is to be asked without waiting, so that it shows what became ready before `now`.
    #[inline]
    pub(super) fn is_glance_due(&self, now: Tick) -> bool {
        self.more || now.since(self.all_told) >= GLANCE_NS
    }

    /// Takes note of an answer of the poller's at `at`; the earliest moment at which the sockets of which it tells can have
    /// become ready. `waited`: the call was allowed to wait; `more`: it may not have told of all.
    #[inline]
    pub(super) fn told(&mut self, at: Tick, waited: bool, more: bool) -> Tick {
        let since = if waited { at } else { self.all_told };
        if waited || !more {
            self.all_told = at;
        }
        self.more = more;
        since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_one_answer_has_no_room_for_counts_from_the_wake() {
        let mut unread = Unread::default();
        assert_eq!(unread.told(Tick(50 * MS), true, true), Tick(50 * MS), "the thread slept until then");
        for batch in 1..9 {
            let now = Tick((50 + 20 * batch) * MS);
            assert!(unread.is_glance_due(now));
            assert_eq!(unread.told(now, false, batch < 8), Tick(50 * MS), "batch {batch}");
        }
        // All was told at 210 ms: whatever comes now came later.
        assert_eq!(unread.told(Tick(230 * MS), false, false), Tick(210 * MS));
    }

    #[test]
    fn what_came_while_the_thread_was_busy_counts_from_the_answer_before() {
        let mut unread = Unread::default();
        unread.told(Tick(MS), true, false);
        assert!(!unread.is_glance_due(Tick(MS + GLANCE_NS - 1)) && unread.is_glance_due(Tick(MS + GLANCE_NS)));
        assert_eq!(unread.told(Tick(9 * MS), false, false), Tick(MS));
        // A glance that finds nothing is an answer: who waits afterwards did not miss anything.
        assert_eq!(unread.told(Tick(12 * MS), true, false), Tick(12 * MS));
    }
}
