//! The queries that a run has.

use super::QUERIES;

/// Some of the queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Bit n for query n + 1.
    bits: u32,
}

impl Selection {
    /// The text for all queries.
    pub(crate) const ALL: &str = "all";

    /// Returns the queries of a checked list such as `1,6,17`.
    pub(crate) fn of(list: &str) -> Self {
        let numbers = list.split(',').filter_map(|number| number.parse::<usize>().ok());
        match list {
            Self::ALL => Self { bits: (1 << QUERIES) - 1 },
            _ => Self { bits: numbers.fold(0, |bits, number| bits | 1 << (number - 1)) },
        }
    }

    /// Returns true if it has all queries.
    pub(crate) fn is_all(self) -> bool {
        self == Self::of(Self::ALL)
    }

    /// Returns true if query `number`, from 1, is one of them.
    pub(crate) fn has(self, number: usize) -> bool {
        self.bits >> (number - 1) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_named_by_their_numbers() {
        let of = |list| (1..=QUERIES).filter(|number| Selection::of(list).has(*number)).collect::<Vec<_>>();
        assert_eq!(of("1,6,17"), [1, 6, 17]);
        assert_eq!(of("all").len(), QUERIES);
        assert_eq!(["all", "1,6"].map(|list| Selection::of(list).is_all()), [true, false]);
    }
}
