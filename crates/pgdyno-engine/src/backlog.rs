//! Notices on their way to the user: a server can send them faster than anybody reads them.

use std::sync::atomic::{AtomicUsize, Ordering};

/// So many bytes of notices wait at most, of all threads.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// What keeping one takes beside its text.
const EACH_BYTES: usize = 512;

/// What waits to be passed on.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    bytes: AtomicUsize,
}

impl Backlog {
    /// Makes room for a notice of so many bytes; how much it takes, or nothing where there is none.
    pub(crate) fn admit(&self, length: usize) -> Option<usize> {
        let bytes = length.saturating_add(EACH_BYTES);
        let fits = |waiting: usize| waiting.checked_add(bytes).filter(|sum| *sum <= MAX_BYTES);
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok().map(|_| bytes)
    }

    /// So much was passed on.
    pub(crate) fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_again_for_what_was_passed_on() {
        let backlog = Backlog::default();
        let mut admitted = Vec::new();
        while let Some(bytes) = backlog.admit(100_000) {
            admitted.push(bytes);
        }
        assert_eq!(admitted.len(), MAX_BYTES / (100_000 + EACH_BYTES));
        assert_eq!((backlog.admit(usize::MAX), backlog.admit(100_000)), (None, None));
        backlog.release(admitted[0]);
        assert!(backlog.admit(100_000).is_some() && backlog.admit(100_000).is_none());
    }
}
