//! Keys as a terminal sends them.

/// The meaning of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Leave the view.
    Leave,
    /// Pause the picture, or resume it.
    Pause,
    /// Show or hide the explanation of keys.
    Help,
}

/// Finds keys in bytes. Keys such as the arrows send an escape and more; the escape key sends only an escape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keys {
    #[default]
    Plain,
    /// After an escape.
    Escape,
    /// In a sequence, which ends with a letter or `~`.
    Sequence,
}

impl Keys {
    /// Returns the keys in these bytes; ignores all others.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        for byte in bytes {
            *self = match (*self, byte) {
                (Self::Escape, b'[' | b'O') => Self::Sequence,
                (Self::Sequence, b'@'..=b'~') => Self::Plain,
                (Self::Sequence, _) => Self::Sequence,
                (_, 0x1b) => Self::Escape,
                // With the Alt key an escape precedes the letter.
                (Self::Escape, _) => Self::Plain,
                (Self::Plain, byte) => {
                    keys.extend(match byte {
                        b'q' | b'Q' => Some(Key::Leave),
                        b'p' | b'P' | b' ' => Some(Key::Pause),
                        b'?' | b'h' => Some(Key::Help),
                        _ => None,
                    });
                    Self::Plain
                }
            };
        }
        keys
    }

    /// Returns true if an escape may be the key or the start of a sequence.
    pub(super) fn is_open(self) -> bool {
        self != Self::Plain
    }

    /// Ends an open sequence after a pause. Returns the escape key if nothing followed the escape.
    pub(super) fn settle(&mut self) -> Option<Key> {
        let escape = *self == Self::Escape;
        *self = Self::Plain;
        escape.then_some(Key::Leave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_are_no_escape() {
        let mut keys = Keys::default();
        assert_eq!(keys.read(b"\x1b[A\x1bOP\x1b[15~\x1bqx?p"), [Key::Help, Key::Pause]);
        assert_eq!((keys.read(b"\x1b"), keys.is_open()), (Vec::new(), true));
        assert_eq!((keys.settle(), keys.settle()), (Some(Key::Leave), None));
        assert_eq!(keys.read(b"\x1b"), []);
        assert_eq!((keys.read(b"[Bq"), keys.is_open()), (vec![Key::Leave], false));
    }
}
