//! Ctrl-C, and one of several connections that failed: what runs on the server is cancelled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pgdyno_net::CancelHandle;

/// How often the flags are looked at.
const GLANCE: Duration = Duration::from_millis(20);
/// How often cancel requests are repeated: one that comes between two statements is lost.
const REPEAT: Duration = Duration::from_millis(200);

/// Looks after connections.
pub(super) struct Watch<'a> {
    /// Set by somebody else.
    stop: &'a AtomicBool,
    failed: AtomicBool,
    over: AtomicBool,
    handles: Mutex<Vec<CancelHandle>>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(stop: &'a AtomicBool) -> Self {
        Self { stop, failed: AtomicBool::new(false), over: AtomicBool::new(false), handles: Mutex::default() }
    }

    /// Takes a connection under watch.
    pub(super) fn add(&self, handle: CancelHandle) {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    /// Whether the user wants it to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends what the other connections do. Returns whether this was the first failure.
    pub(super) fn fail(&self) -> bool {
        !self.failed.swap(true, Ordering::Relaxed)
    }

    /// Whether nothing new may begin.
    pub(super) fn is_over(&self) -> bool {
        self.is_stopped() || self.failed.load(Ordering::Relaxed)
    }

    /// Runs `work` while a thread watches the flags.
    pub(super) fn watching<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        std::thread::scope(|scope| {
            scope.spawn(|| self.look());
            // Also when `work` panics, or the scope would wait for ever.
            let _over = Over(&self.over);
            work()
        })
    }

    fn look(&self) {
        let mut cancelled: Option<Instant> = None;
        while !self.over.load(Ordering::Relaxed) {
            if self.is_over() && cancelled.is_none_or(|at| at.elapsed() >= REPEAT) {
                for handle in self.handles.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                    // Of a connection that is gone nothing is left to cancel.
                    drop(handle.cancel());
                }
                cancelled = Some(Instant::now());
            }
            std::thread::sleep(GLANCE);
        }
    }
}
