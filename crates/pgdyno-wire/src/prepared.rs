//! The statements that are prepared on a connection.

use crate::StmtId;

/// Marks per word.
const BITS: usize = u64::BITS as usize;

/// A mark for each of a number of statements. The first ones are stored in the set itself: most workloads have few,
/// and there may be thousands of connections.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    first: u64,
    rest: Box<[u64]>,
}

impl Prepared {
    /// Returns a set with room for so many statements, all unmarked.
    pub(crate) fn new(statements: usize) -> Self {
        Self { first: 0, rest: vec![0; statements.saturating_sub(BITS).div_ceil(BITS)].into_boxed_slice() }
    }

    #[inline]
    pub(crate) fn contains(&self, StmtId(id): StmtId) -> bool {
        let id = id as usize;
        let word = if id < BITS { Some(&self.first) } else { self.rest.get(id / BITS - 1) };
        word.is_some_and(|word| word >> (id % BITS) & 1 == 1)
    }

    /// Marks or unmarks a statement. Ignores one without room.
    #[inline]
    pub(crate) fn set(&mut self, StmtId(id): StmtId, prepared: bool) {
        let id = id as usize;
        let word = if id < BITS { Some(&mut self.first) } else { self.rest.get_mut(id / BITS - 1) };
        if let Some(word) = word {
            *word = *word & !(1 << (id % BITS)) | u64::from(prepared) << (id % BITS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_has_a_mark_of_its_own() {
        let mut set = Prepared::new(200);
        for id in [0, 63, 64, 127, 128, 199].map(StmtId) {
            assert!(!set.contains(id));
            set.set(id, true);
        }
        let marked = |set: &Prepared| (0..200).filter(|id| set.contains(StmtId(*id))).collect::<Vec<_>>();
        assert_eq!(marked(&set), [0, 63, 64, 127, 128, 199]);
        set.set(StmtId(64), false);
        set.set(StmtId(1), false);
        assert_eq!(marked(&set), [0, 63, 127, 128, 199]);
    }

    #[test]
    fn a_statement_without_room_is_never_prepared() {
        let mut set = Prepared::new(64);
        set.set(StmtId(64), true);
        assert!(!set.contains(StmtId(64)));
    }
}
