//! Several replies by one wake-up.
//!
//! A thread that sleeps until the next reply is woken for nearly each of them, and being woken costs more than reading
//! the reply. Where replies come often, the thread sleeps a little longer instead, as a network card does that
//! coalesces its interrupts, and reads what came meanwhile. Where a timer is about to wake it anyway, as in an open loop,
//! it sleeps until then even for a single reply. The delay is part of the latencies, and counted as read delay.

use crate::Tick;

/// When a thread sleeps without being woken by replies.
#[derive(Debug)]
pub(super) struct Coalescing {
    /// 0 is never.
    at_most_ns: u64,
    /// The last time at which the poller answered.
    last: Tick,
    /// Whether the thread slept before this answer.
    slept: bool,
    /// Whether two replies or more are to be expected in `at_most_ns`.
    is_dense: bool,
    /// Answers to pass before the next sleep, because the last ones brought a single reply each, or none.
    pass: u32,
    /// The same after the next such sleep.
    pass_next: u32,
}

/// After sleeps that brought too little, so many answers pass before the next one: twice as many each time.
const PASS_FIRST: u32 = 8;
const PASS_MAX: u32 = 4_096;

impl Coalescing {
    pub(super) fn new(at_most_ns: u64) -> Self {
        Self { at_most_ns, last: Tick(0), slept: false, is_dense: false, pass: 0, pass_next: PASS_FIRST }
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.at_most_ns > 0
    }

    /// Notes that the poller answered with so many sockets at `now`.
    pub(super) fn answered(&mut self, sockets: usize, now: Tick) {
        self.pass = self.pass.saturating_sub(1);
        if std::mem::take(&mut self.slept) {
            self.is_dense = sockets > 1;
            if self.is_dense {
                self.pass_next = PASS_FIRST;
            } else {
                self.pass = self.pass_next;
                self.pass_next = (self.pass_next * 2).min(PASS_MAX);
            }
        } else {
            self.is_dense = sockets > 1 || sockets == 1 && now.since(self.last) * 2 <= self.at_most_ns;
        }
        self.last = now;
    }

    /// Returns until when to sleep, if replies are to be read together. No timer is served later for it: the sleep ends
    /// at `deadline`.
    pub(super) fn until(&mut self, now: Tick, deadline: Tick) -> Option<Tick> {
        if deadline <= now {
            return None;
        }
        // The timer wakes the thread anyway, whether or not the sleep brings a reply: that says nothing of later ones.
        if deadline.since(now) <= self.at_most_ns {
            return Some(deadline);
        }
        self.slept = self.is_dense && self.pass == 0;
        self.slept.then(|| now.after(self.at_most_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    fn slept(coalescing: &mut Coalescing, now_us: u64) -> Option<u64> {
        coalescing.until(Tick(now_us * US), Tick(u64::MAX)).map(|until| until.0 / US)
    }

    #[test]
    fn a_thread_sleeps_on_while_replies_come_in_twos_and_is_woken_where_they_are_few() {
        let mut coalescing = Coalescing::new(50 * US);
        coalescing.answered(1, Tick(100 * US));
        assert_eq!(slept(&mut coalescing, 100), None, "100 µs between two replies");
        coalescing.answered(1, Tick(120 * US));
        assert_eq!(slept(&mut coalescing, 121), Some(171), "20 µs between two replies");
        coalescing.answered(3, Tick(171 * US));
        assert_eq!(slept(&mut coalescing, 175), Some(225));
        coalescing.answered(1, Tick(225 * US));
        assert_eq!(slept(&mut coalescing, 226), None, "one reply in 50 µs");
    }

    #[test]
    fn sleeps_that_bring_a_single_reply_become_rare() {
        let (mut coalescing, mut now, mut sleeps) = (Coalescing::new(50 * US), 0, 0);
        for _ in 0..100_000 {
            now += 10;
            sleeps += usize::from(slept(&mut coalescing, now).is_some());
            coalescing.answered(1, Tick(now * US));
        }
        assert!((10..50).contains(&sleeps), "one client with replies every 10 µs: {sleeps} sleeps");
        // The rate has grown.
        while slept(&mut coalescing, now).is_none() {
            coalescing.answered(1, Tick(now * US));
        }
        coalescing.answered(2, Tick(now * US));
        assert!(slept(&mut coalescing, now).is_some());
    }

    #[test]
    fn a_timer_that_is_near_is_waited_for_whatever_the_replies_are() {
        let mut coalescing = Coalescing::new(50 * US);
        for now in (100..10_000).step_by(100) {
            coalescing.answered(1, Tick(now * US));
            assert_eq!(coalescing.until(Tick(now * US), Tick((now + 50) * US)), Some(Tick((now + 50) * US)));
            coalescing.answered(0, Tick((now + 50) * US));
            assert_eq!(coalescing.until(Tick((now + 50) * US), Tick((now + 101) * US)), None, "51 µs, and few replies");
        }
    }

    #[test]
    fn a_sleep_ends_with_the_next_timer_and_none_begins_when_one_is_due() {
        let mut coalescing = Coalescing::new(50 * US);
        coalescing.answered(2, Tick(100 * US));
        assert_eq!(coalescing.until(Tick(100 * US), Tick(130 * US)), Some(Tick(130 * US)));
        coalescing.answered(2, Tick(130 * US));
        assert_eq!(coalescing.until(Tick(130 * US), Tick(130 * US)), None);
    }
}
