//! Stopping what runs on the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pgdyno_net::CancelHandle;

/// How often the stop flag is looked at.
const GLANCE: Duration = Duration::from_millis(20);
/// How often cancel requests are repeated: one that comes between two statements is lost.
const REPEAT: Duration = Duration::from_millis(200);

/// A connection that may have to be stopped.
struct Running {
    handle: CancelHandle,
    /// Whether a statement is under way.
    busy: Arc<AtomicBool>,
}

/// Says that all has to end, and cancels what still runs.
pub(crate) struct Halt<'a> {
    /// Set by somebody else: Ctrl-C.
    stop: &'a AtomicBool,
    /// Set by us: one failed, so the others stop.
    failed: AtomicBool,
    /// There is nothing left to watch.
    over: AtomicBool,
    running: Mutex<Vec<Running>>,
}

impl<'a> Halt<'a> {
    pub(crate) fn new(stop: &'a AtomicBool) -> Self {
        Self { stop, failed: AtomicBool::new(false), over: AtomicBool::new(false), running: Mutex::default() }
    }

    /// Whether nothing new may begin.
    pub(crate) fn is_set(&self) -> bool {
        self.is_interrupted() || self.failed.load(Ordering::Relaxed)
    }

    /// Whether it was the stop flag.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends all.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Takes a connection under watch. The flag says whether it is busy.
    pub(crate) fn watch_over(&self, handle: CancelHandle) -> Arc<AtomicBool> {
        let busy = Arc::new(AtomicBool::new(false));
        let running = Running { handle, busy: Arc::clone(&busy) };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(running);
        busy
    }

    /// Runs `work` while a thread watches the flags and cancels whatever is busy once one is set. When it
    /// returns, no cancel request is under way any more.
    pub(crate) fn watched<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        self.over.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| self.watch());
            // Also when `work` panics, or the scope would wait for ever.
            let _over = Over(&self.over);
            work()
        })
    }

    fn watch(&self) {
        let mut cancelled_at: Option<Instant> = None;
        while !self.over.load(Ordering::Relaxed) {
            if self.is_set() && cancelled_at.is_none_or(|at| at.elapsed() >= REPEAT) {
                cancelled_at = Some(Instant::now());
                self.cancel_all();
            }
            std::thread::sleep(GLANCE);
        }
    }

    fn cancel_all(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for one in running.iter().filter(|one| one.busy.load(Ordering::Relaxed)) {
            // A server that cannot be reached has nothing that could be cancelled; it is tried again anyway.
            drop(one.handle.cancel());
        }
    }
}
