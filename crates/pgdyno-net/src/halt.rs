//! Stops the statements of several connections: after Ctrl-C, or when one of them failed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{Admin, CancelHandle, ConnectError, ConnectOptions, Interrupter, Stop, cancel_all};

/// Interval between two looks at the `Stop`.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Interval between cancel requests: one that arrives between two statements is lost.
const REPEAT: Duration = Duration::from_millis(200);

/// Time limit of all cancel requests together.
const CANCELLING: Duration = Duration::from_millis(300);
/// Time before connections are closed after Ctrl-C: a server that has not obeyed by then may never do.
const STOPPING: Duration = Duration::from_millis(700);
/// Time before connections are closed after a failure, so that the others can end in good order.
const FAILING: Duration = Duration::from_secs(10);

/// A connection to stop.
#[derive(Debug)]
struct Running {
    handle: CancelHandle,
    /// Whether a statement is in progress.
    busy: Arc<AtomicBool>,
}

/// Ends everything, and cancels statements in progress; closes the connections if that does not help.
#[derive(Debug)]
pub struct Halt<'a> {
    /// Set from outside: Ctrl-C.
    stop: &'a Stop,
    /// Set here: a connection failed, so the others stop.
    failed: AtomicBool,
    /// Whether there is nothing left to watch.
    over: AtomicBool,
    running: Mutex<Vec<Running>>,
    /// Closes the connections.
    interrupter: Interrupter,
}

impl<'a> Halt<'a> {
    /// Returns one that ends everything once `stop` is set.
    #[must_use]
    pub fn new(stop: &'a Stop) -> Self {
        Self {
            stop,
            failed: AtomicBool::new(false),
            over: AtomicBool::new(false),
            running: Mutex::default(),
            interrupter: Interrupter::new(),
        }
    }

    /// Returns true if nothing new may begin.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.is_interrupted() || self.failed.load(Ordering::Relaxed)
    }

    /// Returns true if an end was requested.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.stop.is_requested()
    }

    /// Ends everything. Returns true if this was the first failure.
    pub fn fail(&self) -> bool {
        !self.failed.swap(true, Ordering::Relaxed)
    }

    /// Returns options for connections that it can close.
    #[must_use]
    pub fn options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.interrupted_by(&self.interrupter)
    }

    /// Opens the first connection, with options of [`Halt::options`]. Returns `None` if everything must stop
    /// meanwhile.
    ///
    /// # Errors
    /// When no connection can be opened.
    pub fn connect(&self, options: &ConnectOptions) -> Result<Option<Admin>, ConnectError> {
        match self.watched(|| Admin::connect(options)) {
            Err(_) if self.is_interrupted() => Ok(None),
            connected => connected.map(Some),
        }
    }

    /// Watches a connection, which is cancelled only while the flag says that it is busy. The flag starts as false.
    pub fn watch_over(&self, handle: CancelHandle) -> Arc<AtomicBool> {
        self.watch_with(handle, false)
    }

    /// Watches a connection that may be cancelled at any time.
    pub fn watch_always(&self, handle: CancelHandle) {
        self.watch_with(handle, true);
    }

    fn watch_with(&self, handle: CancelHandle, is_busy: bool) -> Arc<AtomicBool> {
        let busy = Arc::new(AtomicBool::new(is_busy));
        let running = Running { handle, busy: Arc::clone(&busy) };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(running);
        busy
    }

    /// Runs `work` while a thread watches the flags. Once one is set, the thread cancels busy connections; if that
    /// does not help, it closes them. When this returns, no cancel request is in progress.
    pub fn watched<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Over<'a>(&'a AtomicBool, std::thread::Thread);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
                self.1.unpark();
            }
        }
        self.over.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| self.watch());
            // Also when `work` panics, or the scope would wait forever.
            let _over = Over(&self.over, watcher.thread().clone());
            work()
        })
    }

    fn watch(&self) {
        let (mut set_at, mut cancelled_at): (Option<Instant>, Option<Instant>) = (None, None);
        while !self.over.load(Ordering::Relaxed) {
            if self.is_set() {
                let since = set_at.get_or_insert_with(Instant::now).elapsed();
                let patience = if self.is_interrupted() { STOPPING } else { FAILING };
                if since >= patience {
                    self.interrupter.interrupt();
                } else if cancelled_at.is_none_or(|at| at.elapsed() >= REPEAT) {
                    cancelled_at = Some(Instant::now());
                    self.cancel_all();
                }
            }
            // The end of the work does not wait for the next look.
            std::thread::park_timeout(POLL_INTERVAL);
        }
    }

    fn cancel_all(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let busy = running.iter().filter(|one| one.busy.load(Ordering::Relaxed));
        let handles: Vec<_> = busy.map(|one| one.handle.clone()).collect();
        cancel_all(&handles, CANCELLING, &self.interrupter);
    }
}
