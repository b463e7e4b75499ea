//! The groups of a thread's clients.

use crate::client::Common;

/// State that the clients of each group share. A run usually has one group, which needs no index.
pub(crate) struct Groups {
    pub(crate) first: Common,
    pub(crate) others: Vec<Common>,
}

impl Groups {
    /// Returns the group with this number.
    #[inline]
    pub(crate) fn of(&mut self, group: usize) -> &mut Common {
        match group.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other],
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Common> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Common> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    pub(crate) fn len(&self) -> usize {
        1 + self.others.len()
    }
}
