//! How long replies may have waited before they were read.
//!
//! A poller says that a socket is ready, not since when. The lower bound is the last time at which the poller had
//! reported *every* socket that was ready: one that it reports later became ready after that. A call without room for
//! all sockets is no such time; a call that had to wait found nothing ready before it waited.

use crate::Tick;

/// A thread that was busy for longer than this polls without waiting first: a socket that is ready then became ready
/// while it was busy. After a shorter time, replies count from the wake-up, too late by this at most.
const POLL_INTERVAL_NS: u64 = 100_000;

/// Knowledge of a thread about replies that it has not read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// The last time at which the poller had reported everything that was ready.
    all_reported: Tick,
    /// Whether the poller had no room for all sockets in its last answer.
    more: bool,
}

impl Unread {
    /// Returns true if the poller is to be asked without waiting, so that it shows what became ready before `now`.
    #[inline]
    pub(super) fn is_poll_due(&self, now: Tick) -> bool {
        self.more || now.since(self.all_reported) >= POLL_INTERVAL_NS
    }

    /// Notes an answer of the poller at `at`. Returns the earliest time at which its sockets can have become ready.
    /// `waited`: the call could wait. `more`: it may not have reported all.
    #[inline]
    pub(super) fn answered(&mut self, at: Tick, waited: bool, more: bool) -> Tick {
        let since = if waited { at } else { self.all_reported };
        if waited || !more {
            self.all_reported = at;
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
        assert_eq!(unread.answered(Tick(50 * MS), true, true), Tick(50 * MS), "the thread slept until then");
        for batch in 1..9 {
            let now = Tick((50 + 20 * batch) * MS);
            assert!(unread.is_poll_due(now));
            assert_eq!(unread.answered(now, false, batch < 8), Tick(50 * MS), "batch {batch}");
        }
        // Everything was reported at 210 ms: later sockets became ready later.
        assert_eq!(unread.answered(Tick(230 * MS), false, false), Tick(210 * MS));
    }

    #[test]
    fn what_came_while_the_thread_was_busy_counts_from_the_answer_before() {
        let mut unread = Unread::default();
        unread.answered(Tick(MS), true, false);
        assert!(
            !unread.is_poll_due(Tick(MS + POLL_INTERVAL_NS - 1)) && unread.is_poll_due(Tick(MS + POLL_INTERVAL_NS))
        );
        assert_eq!(unread.answered(Tick(9 * MS), false, false), Tick(MS));
        // A call that finds nothing is an answer, too: a wait after it misses nothing.
        assert_eq!(unread.answered(Tick(12 * MS), true, false), Tick(12 * MS));
    }
}
