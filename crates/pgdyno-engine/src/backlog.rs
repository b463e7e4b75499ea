//! Notices that wait to be shown: a server can send them faster than anybody reads them.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Limit of all notices that wait, in bytes, over all threads.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Size of a notice beside its text, in bytes.
const EACH_BYTES: usize = 512;

/// Notices that wait to be shown.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    bytes: AtomicUsize,
}

impl Backlog {
    /// Reserves room for a notice of so many bytes. Returns the size reserved, or `None` if there is no room.
    pub(crate) fn admit(&self, length: usize) -> Option<usize> {
        let bytes = length.saturating_add(EACH_BYTES);
        let fits = |waiting: usize| waiting.checked_add(bytes).filter(|sum| *sum <= MAX_BYTES);
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok().map(|_| bytes)
    }

    /// Releases room after notices were passed on.
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
