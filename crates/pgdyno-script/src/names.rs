//! Names of variables, numbered once so that no name is looked up during a benchmark.

use std::collections::HashMap;

/// A variable of a run: its place in every client's [`Variables`](crate::Variables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// The variables that the scripts of a run use. A column of `\gset` that no script uses needs no slot.
#[derive(Clone, Debug, Default)]
pub struct VariableNames {
    slots: HashMap<Box<[u8]>, Slot>,
    names: Vec<Box<[u8]>>,
}

impl VariableNames {
    /// Returns an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the slot of `name`, a new one the first time.
    pub fn slot(&mut self, name: &[u8]) -> Slot {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slot = Slot(u32::try_from(self.names.len()).expect("fewer names than bytes of script"));
        self.slots.insert(name.into(), slot);
        self.names.push(name.into());
        slot
    }

    /// Returns the slot of `name`, if a script uses it.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// Returns the name of a slot.
    #[must_use]
    pub fn name(&self, slot: Slot) -> &[u8] {
        &self.names[slot.0 as usize]
    }

    /// Returns the name as text, for messages.
    pub(crate) fn text(&self, slot: Slot) -> Box<str> {
        String::from_utf8_lossy(self.name(slot)).into()
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Returns true if a byte may begin a variable's name: a letter, `_`, or any byte that is not ASCII.
pub(crate) fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Returns true if a byte may be part of a variable's name.
pub(crate) fn continues_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit()
}

/// Returns true if a name is allowed: letters, digits (not first), `_` and any byte that is not ASCII.
#[must_use]
pub fn valid_variable_name(name: &[u8]) -> bool {
    name.first().is_some_and(|b| begins_name(*b)) && name.iter().all(|b| continues_name(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_pgbenchs() {
        for name in ["a", "_", "aid", "A1_", "é", "ünï"] {
            assert!(valid_variable_name(name.as_bytes()), "{name}");
        }
        for name in ["", "1", "1a", "a!", "a b", "a$", "?column?", ":a"] {
            assert!(!valid_variable_name(name.as_bytes()), "{name}");
        }
        assert!(valid_variable_name(b"\xff"));
    }

    #[test]
    fn a_name_has_one_slot() {
        let mut names = VariableNames::new();
        assert!(names.is_empty());
        let (a, b) = (names.slot(b"a"), names.slot(b"b"));
        assert_ne!(a, b);
        assert_eq!((names.slot(b"a"), names.find(b"b"), names.find(b"c")), (a, Some(b), None));
        assert_eq!((names.name(b), names.len()), (&b"b"[..], 2));
    }
}
