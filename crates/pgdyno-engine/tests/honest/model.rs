//! The queues that the engine should make, computed without it. Who waits is served in the order of arriving, and what is
//! asked for a service time is asked in the order of beginning, as in the simulation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What must have been recorded.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    pub(crate) service: Vec<u64>,
    pub(crate) response: Vec<u64>,
    pub(crate) lag: Vec<u64>,
    pub(crate) skipped: u64,
    pub(crate) late: u64,
}

impl Expected {
    fn transaction(&mut self, intended: u64, begun: u64, service: u64, limit: Option<u64>) -> u64 {
        let end = begun + service;
        self.service.push(service);
        self.response.push(end - intended);
        self.lag.push(begun - intended);
        self.late += u64::from(limit.is_some_and(|limit| end - intended > limit));
        end
    }
}

/// Clients that take the arrivals of a schedule, each the next one as soon as it is free. None begins from `end` on.
pub(crate) fn open(
    arrivals: &[u64],
    clients: usize,
    limit: Option<u64>,
    end: u64,
    mut service: impl FnMut(u64) -> u64,
) -> Expected {
    let mut expected = Expected::default();
    let mut free: BinaryHeap<_> = (0..clients).map(|_| Reverse(0)).collect();
    let mut arrivals = arrivals.iter().copied().peekable();
    while let Some(Reverse(since)) = free.pop().filter(|Reverse(since)| *since < end) {
        while limit.is_some_and(|limit| arrivals.next_if(|at| at + limit < since).is_some()) {
            expected.skipped += 1;
        }
        let Some(arrival) = arrivals.next() else { break };
        let begun = arrival.max(since);
        free.push(Reverse(expected.transaction(arrival, begun, service(begun), limit)));
    }
    expected
}

/// Clients that think, and then wait for one of a few connections. None begins from `end` on.
pub(crate) fn shared(
    clients: usize,
    lines: usize,
    think: u64,
    end: u64,
    mut service: impl FnMut(u64) -> u64,
) -> Expected {
    let mut expected = Expected::default();
    let mut due: BinaryHeap<_> = (0..clients).map(|_| Reverse(think)).collect();
    let mut free: BinaryHeap<_> = (0..lines).map(|_| Reverse(0)).collect();
    while let (Some(Reverse(intended)), Some(Reverse(since))) = (due.pop(), free.pop()) {
        let begun = intended.max(since);
        if begun >= end {
            break;
        }
        let done = expected.transaction(intended, begun, service(begun), None);
        free.push(Reverse(done));
        due.push(Reverse(done + think));
    }
    expected
}
