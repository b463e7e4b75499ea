//! Asks work to end, from another thread: cleanly first, then at once.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Interrupter;

/// How soon work is to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Not at all.
    #[default]
    GoOn,
    /// Nothing new begins, and what has begun may end.
    Cleanly,
    /// What has begun is cancelled.
    AtOnce,
}

/// A request to end, which never falls back to a lower level. The thread that handles signals makes it; everything that takes long
/// looks at it, or is woken by it.
#[derive(Default)]
pub struct Stop {
    level: AtomicU8,
    wakers: Mutex<Vec<Box<dyn Fn() + Send + Sync>>>,
    /// Waits that end with [`Stop::cleanly`].
    opening: Mutex<Vec<Interrupter>>,
    /// Waits that end with the next [`Stop::at_once`].
    cancelling: Mutex<Vec<Interrupter>>,
}

impl Stop {
    /// Returns one that asks for nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            level: AtomicU8::new(StopLevel::GoOn as u8),
            wakers: Mutex::new(Vec::new()),
            opening: Mutex::new(Vec::new()),
            cancelling: Mutex::new(Vec::new()),
        }
    }

    /// Returns one that asks for a clean end.
    #[must_use]
    pub fn requested() -> Self {
        let stop = Self::new();
        stop.cleanly();
        stop
    }

    /// Asks for a clean end.
    pub fn cleanly(&self) {
        self.raise(StopLevel::Cleanly);
        lock(&self.opening).iter().for_each(Interrupter::interrupt);
        self.wake();
    }

    /// Asks for an end at once.
    pub fn at_once(&self) {
        self.raise(StopLevel::AtOnce);
        lock(&self.cancelling).iter().for_each(Interrupter::interrupt);
        self.cleanly();
    }

    fn raise(&self, level: StopLevel) {
        self.level.fetch_max(level as u8, Ordering::AcqRel);
    }

    /// Returns how soon the work is to end.
    #[must_use]
    pub fn level(&self) -> StopLevel {
        match self.level.load(Ordering::Acquire) {
            0 => StopLevel::GoOn,
            1 => StopLevel::Cleanly,
            _ => StopLevel::AtOnce,
        }
    }

    /// Returns true if the work is to end, cleanly or at once.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.level() >= StopLevel::Cleanly
    }

    /// Returns true if the work is to end at once.
    #[must_use]
    pub fn is_at_once(&self) -> bool {
        self.level() == StopLevel::AtOnce
    }

    /// Interrupts `interrupter` as soon as an end is requested; now if it already is.
    pub fn interrupts(&self, interrupter: &Interrupter) {
        lock(&self.opening).push(interrupter.clone());
        if self.is_requested() {
            interrupter.interrupt();
        }
    }

    /// Interrupts `interrupter` when an end at once is requested next.
    pub fn interrupts_cancelling(&self, interrupter: &Interrupter) {
        lock(&self.cancelling).push(interrupter.clone());
    }

    /// Calls `waker` at each request, and by [`Stop::wake`]; now if an end is already requested.
    pub fn wakes(&self, waker: impl Fn() + Send + Sync + 'static) {
        lock(&self.wakers).push(Box::new(waker));
        if self.is_requested() {
            self.wake();
        }
    }

    /// Calls every waker.
    pub fn wake(&self) {
        lock(&self.wakers).iter().for_each(|waker| waker());
    }

    /// Forgets the interrupters and wakers of work that is over.
    pub fn forget(&self) {
        lock(&self.wakers).clear();
        lock(&self.opening).clear();
        lock(&self.cancelling).clear();
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.level()).finish()
    }
}

fn lock<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    // The list is consistent at every moment, even after a panic.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_level_never_falls() {
        let stop = Stop::new();
        assert_eq!((stop.level(), stop.is_requested()), (StopLevel::GoOn, false));
        stop.at_once();
        stop.cleanly();
        assert!(stop.is_requested() && stop.is_at_once());
        assert_eq!(Stop::requested().level(), StopLevel::Cleanly);
    }

    #[test]
    fn waits_end_and_wakers_are_called_at_their_level_even_if_they_come_late() {
        let stop = Stop::new();
        let [opening, cancelling, late] = [(); 3].map(|()| Interrupter::new());
        let woken = Arc::new(AtomicUsize::new(0));
        let counted = || {
            let woken = Arc::clone(&woken);
            move || {
                woken.fetch_add(1, Ordering::Relaxed);
            }
        };
        stop.interrupts(&opening);
        stop.interrupts_cancelling(&cancelling);
        stop.wakes(counted());
        stop.cleanly();
        assert!(opening.is_interrupted() && !cancelling.is_interrupted());
        assert_eq!(woken.load(Ordering::Relaxed), 1);
        stop.interrupts(&late);
        assert!(late.is_interrupted());
        stop.at_once();
        assert!(cancelling.is_interrupted());
        stop.forget();
        stop.wakes(counted());
        assert!(woken.load(Ordering::Relaxed) > 2, "one that comes late is called");
    }
}
