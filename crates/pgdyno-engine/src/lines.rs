//! Connections as clients hold them: each client its own, or all of a thread a common stock.

use std::collections::VecDeque;

use pgdyno_wire::{QueryMode, Session};

use crate::Tick;

/// A connection's place within its thread: what was prepared on it, what comes and what goes.
pub(crate) struct Line {
    pub(crate) session: Session,
    /// What is to be sent.
    pub(crate) out: Vec<u8>,
    /// The beginning of a message that has not come as a whole.
    pub(crate) pending: Vec<u8>,
    /// Whether there is a connection, as far as errands tell.
    pub(crate) attached: bool,
    /// The client that holds it.
    pub(crate) client: Option<usize>,
    /// Since when it is without the connection that it had.
    pub(crate) lost: Option<Tick>,
}

impl Line {
    pub(crate) fn new(mode: QueryMode, statements: usize, attached: bool, client: Option<usize>) -> Self {
        Self {
            session: Session::new(mode, statements),
            out: Vec::new(),
            pending: Vec::new(),
            attached,
            client,
            lost: None,
        }
    }

    /// Nothing is left of the connection that it had.
    pub(crate) fn reset(&mut self, statements: usize) {
        let wire = self.session.wire();
        self.session = Session::new(self.session.mode(), statements);
        self.session.speak(wire);
        self.out.clear();
        self.pending.clear();
    }
}

/// Lines that clients share: each is held for a transaction, and handed on in the order of asking.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Lines that nobody holds.
    idle: Vec<usize>,
    /// Clients whose transaction is due.
    waiting: VecDeque<usize>,
    /// Lines that have a connection.
    alive: usize,
}

impl Pool {
    pub(crate) fn new(lines: usize) -> Self {
        Self { idle: (0..lines).rev().collect(), waiting: VecDeque::new(), alive: lines }
    }

    /// A client wants a line.
    #[inline]
    pub(crate) fn ask(&mut self, client: usize) {
        self.waiting.push_back(client);
    }

    /// A line is free again.
    #[inline]
    pub(crate) fn give_back(&mut self, line: usize) {
        self.idle.push(line);
    }

    /// The client whose turn it is, and its line. The line that was used last comes first: its backend is warm.
    #[inline]
    pub(crate) fn hand_out(&mut self) -> Option<(usize, usize)> {
        if self.idle.is_empty() || self.waiting.is_empty() {
            return None;
        }
        self.waiting.pop_front().zip(self.idle.pop())
    }

    /// Nobody waits any more; those who did.
    pub(crate) fn dismiss(&mut self) -> VecDeque<usize> {
        std::mem::take(&mut self.waiting)
    }

    /// A line has lost its connection.
    pub(crate) fn lose(&mut self, line: usize) {
        self.idle.retain(|idle| *idle != line);
        self.alive -= 1;
    }

    /// A line has a connection again, and nobody holds it.
    pub(crate) fn revive(&mut self, line: usize) {
        self.idle.push(line);
        self.alive += 1;
    }

    /// Lines that have a connection.
    pub(crate) fn alive(&self) -> usize {
        self.alive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_handed_out_in_the_order_of_asking() {
        let mut pool = Pool::new(2);
        assert_eq!(pool.hand_out(), None);
        for client in [7, 8, 9] {
            pool.ask(client);
        }
        assert_eq!([pool.hand_out(), pool.hand_out(), pool.hand_out()], [Some((7, 0)), Some((8, 1)), None]);
        pool.give_back(1);
        assert_eq!(pool.hand_out(), Some((9, 1)));
    }

    #[test]
    fn a_lost_line_is_handed_out_to_nobody_until_it_is_back() {
        let mut pool = Pool::new(1);
        pool.lose(0);
        pool.ask(3);
        assert_eq!((pool.alive(), pool.hand_out()), (0, None));
        pool.revive(0);
        assert_eq!((pool.alive(), pool.hand_out()), (1, Some((3, 0))));
    }
}
