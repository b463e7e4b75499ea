//! Ends a run from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pgdyno_net::Interrupter;
use pgdyno_poll::Waker;

/// Asks a run to end. Shared with the thread that handles signals.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    kill: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
    /// Interrupters of waits that end with [`Control::stop`].
    opening: Mutex<Vec<Interrupter>>,
    /// Interrupters of waits that end with the next [`Control::kill`].
    cancelling: Mutex<Vec<Interrupter>>,
}

impl Control {
    /// Returns a control that has asked for nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run cleanly: no transaction begins any more, and those in flight may end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        lock(&self.opening).iter().for_each(Interrupter::interrupt);
        self.wake();
    }

    /// Ends the run at once: transactions in flight are cancelled.
    pub fn kill(&self) {
        self.kill.store(true, Ordering::Release);
        lock(&self.cancelling).iter().for_each(Interrupter::interrupt);
        self.stop();
    }

    /// Returns true if the run was asked to end.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Returns true if the run was asked to end at once.
    #[must_use]
    pub fn is_killing(&self) -> bool {
        self.kill.load(Ordering::Acquire)
    }

    /// Returns the flag that [`Control::stop`] sets.
    #[must_use]
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Interrupts `interrupter` as soon as the run is asked to end; at once if it was already.
    pub fn interrupts(&self, interrupter: &Interrupter) {
        lock(&self.opening).push(interrupter.clone());
        if self.is_stopping() {
            interrupter.interrupt();
        }
    }

    /// Interrupts `interrupter` when the run is next asked to end at once.
    pub(crate) fn interrupts_cancelling(&self, interrupter: &Interrupter) {
        lock(&self.cancelling).push(interrupter.clone());
    }

    pub(crate) fn register(&self, waker: Waker) {
        lock(&self.wakers).push(waker);
        if self.is_stopping() {
            self.wake();
        }
    }

    /// Forgets the interrupters and wakers of a run that is over.
    pub(crate) fn forget(&self) {
        lock(&self.wakers).clear();
        lock(&self.opening).clear();
        lock(&self.cancelling).clear();
    }

    /// Wakes every worker, so that it looks at the clock and the flags.
    pub(crate) fn wake(&self) {
        for waker in lock(&self.wakers).iter() {
            waker.wake();
        }
    }
}

fn lock<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    // The list is consistent at every moment, even after a panic.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
