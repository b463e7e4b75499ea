//! How a run is ended from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pgdyno_net::Interrupter;
use pgdyno_poll::Waker;

/// Shared with a signal handler's thread: asks the run to end.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    kill: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
    /// What waits for a server, and ends with [`Control::stop`].
    opening: Mutex<Vec<Interrupter>>,
    /// What waits for a server, and ends with the next [`Control::kill`].
    cancelling: Mutex<Vec<Interrupter>>,
}

impl Control {
    /// Nothing asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run cleanly: no transaction begins any more, those in flight may end.
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

    /// Whether the run is asked to end.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Whether the run is asked to end at once.
    #[must_use]
    pub fn is_killing(&self) -> bool {
        self.kill.load(Ordering::Acquire)
    }

    /// The flag of [`Control::stop`], for those who look at it between two steps.
    #[must_use]
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Lets `interrupter` interrupt as soon as the run is asked to end: at once, if it was.
    pub fn interrupts(&self, interrupter: &Interrupter) {
        lock(&self.opening).push(interrupter.clone());
        if self.is_stopping() {
            interrupter.interrupt();
        }
    }

    /// Lets `interrupter` interrupt when somebody asks, from now on, to end at once.
    pub(crate) fn interrupts_cancelling(&self, interrupter: &Interrupter) {
        lock(&self.cancelling).push(interrupter.clone());
    }

    pub(crate) fn register(&self, waker: Waker) {
        lock(&self.wakers).push(waker);
        if self.is_stopping() {
            self.wake();
        }
    }

    /// A run is over.
    pub(crate) fn forget(&self) {
        lock(&self.wakers).clear();
        lock(&self.opening).clear();
        lock(&self.cancelling).clear();
    }

    /// Ends every worker's wait, so that it looks at the clock and at the flags.
    pub(crate) fn wake(&self) {
        for waker in lock(&self.wakers).iter() {
            waker.wake();
        }
    }
}

fn lock<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    // A list is whole at every moment, whoever panicked while holding it.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
