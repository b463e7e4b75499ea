//! A queue that usually holds one element or none.

use std::collections::VecDeque;

/// First in, first out. The first element is stored in the queue itself, so that a single one takes no other memory.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<T> {
    first: Option<T>,
    /// The other elements; empty without a first one.
    rest: VecDeque<T>,
}

impl<T> Fifo<T> {
    /// Returns an empty queue.
    pub(crate) const fn new() -> Self {
        Self { first: None, rest: VecDeque::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.first.is_none() {
            self.first = Some(item);
        } else {
            self.rest.push_back(item);
        }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.first.as_ref()
    }

    #[inline]
    pub(crate) fn first_mut(&mut self) -> Option<&mut T> {
        self.first.as_mut()
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = self.first.take()?;
        if !self.rest.is_empty() {
            self.advance();
        }
        Some(first)
    }

    #[inline(never)]
    fn advance(&mut self) {
        self.first = self.rest.pop_front();
    }

    /// Returns the only element, if there is exactly one.
    #[inline]
    pub(crate) fn only(&self) -> Option<&T> {
        self.first().filter(|_| self.rest.is_empty())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_first_comes_first() {
        let mut fifo = Fifo::new();
        assert_eq!((fifo.pop(), fifo.is_empty()), (None, true));
        for round in 0..3 {
            for n in 0..5 {
                fifo.push(round * 10 + n);
            }
            assert_eq!((fifo.first().copied(), fifo.only(), fifo.is_empty()), (Some(round * 10), None, false));
            *fifo.first_mut().unwrap() += 5;
            let taken: Vec<i32> = std::iter::from_fn(|| fifo.pop()).collect();
            assert_eq!(taken, [5, 1, 2, 3, 4].map(|n| round * 10 + n));
            assert!(fifo.is_empty());
        }
    }

    #[test]
    fn the_only_one_is_distinguished_from_the_first_of_several() {
        let mut fifo = Fifo::new();
        assert_eq!(fifo.only(), None);
        fifo.push(1);
        assert_eq!(fifo.only(), Some(&1));
        fifo.push(2);
        assert_eq!((fifo.only().copied(), fifo.pop(), fifo.only().copied()), (None, Some(1), Some(2)));
        assert_eq!((fifo.pop(), fifo.only(), fifo.is_empty()), (Some(2), None, true));
    }
}
