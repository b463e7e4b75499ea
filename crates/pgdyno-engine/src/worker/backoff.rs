//! Pauses before a lost connection is replaced: none, unless the connection before did not last either.
//!
//! Otherwise a server that accepts sessions and kills them would be asked for as many as it can kill. Each client has
//! its own pause, so that thousands do not come back together.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use pgdyno_workload::Rng;

use crate::Tick;

/// A connection that lasted this long resets the pauses.
const LASTED_NS: u64 = 1_000_000_000;
/// The longest pause after the first connection that did not last. It doubles with each further one.
const FIRST_NS: u64 = 100_000_000;
/// The longest pause of all.
const MAX_NS: u64 = 10_000_000_000;

/// The pauses of one thread's lines.
#[derive(Debug)]
pub(super) struct Backoff {
    seed: u64,
    /// Number of the thread's first client within the run.
    first: u32,
    /// Time for which a lost connection is retried.
    reconnect_ns: u64,
    lines: HashMap<usize, Misses>,
    paused: BinaryHeap<Reverse<(Tick, usize)>>,
}

/// Connections of one line that did not last.
#[derive(Debug)]
struct Misses {
    /// How many there were in a row.
    count: u32,
    /// When the last connection was opened.
    opened: Option<Tick>,
    /// When to give up.
    until: Tick,
    rng: Rng,
}

impl Backoff {
    pub(super) fn new(seed: u64, first: u32, reconnect_ns: u64) -> Self {
        Self { seed, first, reconnect_ns, lines: HashMap::new(), paused: BinaryHeap::new() }
    }

    fn line(&mut self, line: usize) -> &mut Misses {
        let id = u64::from(self.first) + line as u64;
        self.lines.entry(line).or_insert_with(|| Misses {
            count: 0,
            opened: None,
            until: Tick(0),
            rng: Rng::derive(self.seed, "backoff", &[id]),
        })
    }

    /// Notes the loss of a connection. Returns when to replace it.
    pub(super) fn lost(&mut self, line: usize, now: Tick) -> Tick {
        let until = now.after(self.reconnect_ns);
        let misses = self.line(line);
        misses.until = until;
        match misses.opened {
            Some(opened) if now.since(opened) < LASTED_NS => misses.pause(now),
            _ => {
                misses.count = 0;
                now
            }
        }
    }

    /// Notes a failed attempt. Returns when to try again, if there is time.
    pub(super) fn refused(&mut self, line: usize, now: Tick) -> Option<Tick> {
        let misses = self.line(line);
        (now < misses.until).then(|| misses.pause(now))
    }

    /// Notes that it was opened.
    pub(super) fn opened(&mut self, line: usize, now: Tick) {
        self.line(line).opened = Some(now);
    }

    /// Returns when to give up.
    pub(super) fn until(&mut self, line: usize) -> Tick {
        self.line(line).until
    }

    /// Schedules an attempt at `at`.
    pub(super) fn pause(&mut self, line: usize, at: Tick) {
        self.paused.push(Reverse((at, line)));
    }

    /// Returns the end of the next pause.
    #[inline]
    pub(super) fn next(&self) -> Option<Tick> {
        self.paused.peek().map(|Reverse((at, _))| *at)
    }

    /// Returns a line whose pause is over.
    pub(super) fn pop_due(&mut self, now: Tick) -> Option<usize> {
        if self.next()? > now {
            return None;
        }
        self.paused.pop().map(|Reverse((_, line))| line)
    }
}

impl Misses {
    /// Returns the end of a pause: between half of the limit and all of it, with time left for a last attempt.
    fn pause(&mut self, now: Tick) -> Tick {
        let longest = FIRST_NS.saturating_mul(1 << self.count.min(20)).min(MAX_NS).min(self.until.since(now) / 2);
        self.count = self.count.saturating_add(1);
        let half = longest / 2;
        now.after(half + self.rng.uniform(0, (longest - half) as i64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Returns the pauses before each of so many connections that are killed at once.
    fn pauses(seed: u64, line: usize, reconnect_ns: u64, killed: usize) -> Vec<u64> {
        let (mut backoff, mut now) = (Backoff::new(seed, 0, reconnect_ns), Tick(5 * S));
        (0..killed)
            .map(|_| {
                let at = backoff.lost(line, now);
                let pause = at.since(now);
                now = at;
                backoff.opened(line, now);
                pause
            })
            .collect()
    }

    #[test]
    fn sessions_that_do_not_last_are_waited_for_longer_and_longer() {
        let found = pauses(1, 0, 60 * S, 12);
        assert_eq!(found[0], 0, "the first is made anew at once");
        for (nth, pause) in found[1..].iter().enumerate() {
            let longest = (FIRST_NS << nth).min(MAX_NS);
            assert!((longest / 2..=longest).contains(pause), "{nth}: {found:?}");
        }
        assert_ne!(found, pauses(1, 1, 60 * S, 12), "each line in its own time");
        assert_eq!(found, pauses(1, 0, 60 * S, 12), "by the seed");
        // Never later than the time for which it is retried.
        assert!(pauses(1, 0, S, 12).iter().all(|pause| *pause <= S / 2));
    }

    #[test]
    fn a_session_that_lasted_is_made_anew_at_once() {
        let mut backoff = Backoff::new(1, 0, 60 * S);
        backoff.opened(0, Tick(0));
        assert!(backoff.lost(0, Tick(S / 2)) > Tick(S / 2));
        backoff.opened(0, Tick(S));
        assert_eq!(backoff.lost(0, Tick(3 * S)), Tick(3 * S));
        backoff.opened(0, Tick(3 * S));
        let again = backoff.lost(0, Tick(3 * S));
        assert!(again.since(Tick(3 * S)) <= FIRST_NS, "it began anew");
    }

    #[test]
    fn who_is_refused_tries_again_until_the_time_is_up() {
        let mut backoff = Backoff::new(1, 0, 3 * S);
        let (mut now, mut tries) = (backoff.lost(0, Tick(0)), 0);
        while let Some(at) = backoff.refused(0, now) {
            assert!(at > now || at.since(Tick(0)) + 1 >= 3 * S, "{at:?}");
            now = at.max(now.after(1_000_000));
            tries += 1;
        }
        assert!((8..100).contains(&tries) && now >= Tick(2 * S), "{tries} {now:?}");
    }

    #[test]
    fn pauses_end_in_their_order() {
        let mut backoff = Backoff::new(1, 0, S);
        backoff.pause(3, Tick(20));
        backoff.pause(4, Tick(10));
        assert_eq!((backoff.next(), backoff.pop_due(Tick(9))), (Some(Tick(10)), None));
        assert_eq!([10, 10, 20].map(|at| backoff.pop_due(Tick(at))), [Some(4), None, Some(3)]);
    }
}
