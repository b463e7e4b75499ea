//! A queue that is empty most of the time.

/// First in, first out. What is taken stays in memory until all is taken: nothing wraps around, which costs less than a
/// ring where a queue holds one element or a few and then none.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<T> {
    items: Vec<T>,
    /// How many of them were taken.
    taken: usize,
}

impl<T: Copy> Fifo<T> {
    /// An empty one with room for so many.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { items: Vec::with_capacity(capacity), taken: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.push(item);
    }

    /// One that never becomes empty does not grow for ever.
    #[cold]
    fn make_room(&mut self) {
        if self.taken * 2 >= self.items.len() {
            self.items.drain(..self.taken);
            self.taken = 0;
        }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.items.get(self.taken)
    }

    #[inline]
    pub(crate) fn first_mut(&mut self) -> Option<&mut T> {
        self.items.get_mut(self.taken)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = self.first().copied()?;
        self.taken += 1;
        if self.taken == self.items.len() {
            self.items.clear();
            self.taken = 0;
        }
        Some(first)
    }

    /// The one that there is, if there is one and no other.
    #[inline]
    pub(crate) fn only(&self) -> Option<&T> {
        self.first().filter(|_| self.items.len() - self.taken == 1)
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.taken = 0;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_first_comes_first() {
        let mut fifo = Fifo::with_capacity(1);
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
    fn the_only_one_is_told_from_the_first_of_several() {
        let mut fifo = Fifo::with_capacity(0);
        assert_eq!(fifo.only(), None);
        fifo.push(1);
        assert_eq!(fifo.only(), Some(&1));
        fifo.push(2);
        assert_eq!((fifo.only().copied(), fifo.pop(), fifo.only().copied()), (None, Some(1), Some(2)));
        fifo.clear();
        assert!(fifo.is_empty() && fifo.only().is_none());
    }

    #[test]
    fn one_that_is_never_empty_stays_small() {
        let mut fifo = Fifo::with_capacity(1);
        fifo.push(0);
        for n in 1..10_000 {
            fifo.push(n);
            assert_eq!(fifo.pop(), Some(n - 1));
        }
        assert!(fifo.items.capacity() <= 8, "{}", fifo.items.capacity());
    }
}
