//! How a run is ended from outside.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pgdyno_poll::Waker;

/// Shared with a signal handler's thread: asks the run to end.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    kill: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
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
        self.wake();
    }

    /// Ends the run at once: transactions in flight are cancelled.
    pub fn kill(&self) {
        self.kill.store(true, Ordering::Release);
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

    pub(crate) fn register(&self, waker: Waker) {
        self.lock().push(waker);
        if self.is_stopping() {
            self.wake();
        }
    }

    pub(crate) fn forget_wakers(&self) {
        self.lock().clear();
    }

    /// Ends every worker's wait, so that it looks at the clock and at the flags.
    pub(crate) fn wake(&self) {
        for waker in self.lock().iter() {
            waker.wake();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Waker>> {
        // A list of wakers is whole at every moment, whoever panicked while holding it.
        self.wakers.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
