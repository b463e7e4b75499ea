//! Connections of clients: one for each client, or a stock that the clients of a thread share.

use std::collections::VecDeque;

use pgdyno_wire::{QueryMode, Session};

use crate::Tick;

/// A connection's place within its thread: its session, input and output.
pub(crate) struct Line {
    pub(crate) session: Session,
    /// Bytes to be sent.
    pub(crate) out: Vec<u8>,
    /// The beginning of a message that has not arrived completely.
    pub(crate) pending: Vec<u8>,
    /// Whether it has a connection, as far as errands know.
    pub(crate) attached: bool,
    /// The client that holds it.
    pub(crate) client: Option<usize>,
    /// When it lost its connection.
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

    /// Discards everything of the lost connection.
    pub(crate) fn reset(&mut self, statements: usize) {
        let wire = self.session.wire();
        self.session = Session::new(self.session.mode(), statements);
        self.session.speak(wire);
        self.out.clear();
        self.pending.clear();
    }
}

/// Lines that clients share. A line is held for a transaction; clients are served in the order in which they asked.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Free lines.
    idle: Vec<usize>,
    /// Clients that wait for a line.
    waiting: VecDeque<usize>,
    /// Lines with a connection.
    alive: usize,
}

impl Pool {
    pub(crate) fn new(lines: usize) -> Self {
        Self { idle: (0..lines).rev().collect(), waiting: VecDeque::new(), alive: lines }
    }

    /// Queues a client that wants a line.
    #[inline]
    pub(crate) fn ask(&mut self, client: usize) {
        self.waiting.push_back(client);
    }

    /// Frees a line.
    #[inline]
    pub(crate) fn give_back(&mut self, line: usize) {
        self.idle.push(line);
    }

    /// Returns the next client and its line. The line that was used last is taken first: its backend is warm.
    #[inline]
    pub(crate) fn hand_out(&mut self) -> Option<(usize, usize)> {
        if self.idle.is_empty() || self.waiting.is_empty() {
            return None;
        }
        self.waiting.pop_front().zip(self.idle.pop())
    }

    /// Removes all waiting clients and returns them.
    pub(crate) fn dismiss(&mut self) -> VecDeque<usize> {
        std::mem::take(&mut self.waiting)
    }

    /// Notes that a line lost its connection.
    pub(crate) fn lose(&mut self, line: usize) {
        self.idle.retain(|idle| *idle != line);
        self.alive -= 1;
    }

    /// Notes that a line has a connection again and is free.
    pub(crate) fn revive(&mut self, line: usize) {
        self.idle.push(line);
        self.alive += 1;
    }

    /// Returns the number of lines with a connection.
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
