//! The queries that a run has.

/// Some of the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Bit n for query n + 1.
    bits: u128,
    /// Number of all queries.
    all: usize,
}

impl Selection {
    /// The text for all queries.
    pub(crate) const ALL: &str = "all";

    /// Returns the queries of a checked list such as `1,6,17`, of so many.
    pub(crate) fn of(list: &str, all: usize) -> Self {
        let numbers = list.split(',').filter_map(|number| number.parse::<usize>().ok());
        let bits = match list {
            Self::ALL => (1 << all) - 1,
            _ => numbers.fold(0, |bits, number| bits | 1 << (number - 1)),
        };
        Self { bits, all }
    }

    /// Returns true if it has all queries.
    pub(crate) fn is_all(self) -> bool {
        self.bits == (1 << self.all) - 1
    }

    /// Returns true if query `number`, from 1, is one of them.
    pub(crate) fn has(self, number: usize) -> bool {
        self.bits >> (number - 1) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_set::{QUERIES, QUERIES_MAX};

    #[test]
    fn queries_are_named_by_their_numbers() {
        let of = |list, all| (1..=all).filter(|number| Selection::of(list, all).has(*number)).collect::<Vec<_>>();
        assert_eq!(of("1,6,17", QUERIES), [1, 6, 17]);
        assert_eq!(of("98,99", QUERIES_MAX), [98, 99]);
        assert_eq!(["all", "1,6"].map(|list| of(list, QUERIES_MAX).len()), [QUERIES_MAX, 2]);
        assert_eq!(["all", "1,6"].map(|list| Selection::of(list, QUERIES).is_all()), [true, false]);
    }
}
