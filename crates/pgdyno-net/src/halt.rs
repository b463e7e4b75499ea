//! Stopping what several connections run on the server: Ctrl-C, or one of them that failed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{Admin, CancelHandle, ConnectError, ConnectOptions, Interrupter, cancel_all};

/// How often the stop flag is looked at.
const GLANCE: Duration = Duration::from_millis(20);
/// How often cancel requests are repeated: one that comes between two statements is lost.
const REPEAT: Duration = Duration::from_millis(200);

/// How long cancel requests may take together.
const CANCELLING: Duration = Duration::from_millis(300);
/// When the connections are closed, once the user wants the end: a server that has not obeyed by then may never do.
const STOPPING: Duration = Duration::from_millis(700);
/// The same where one has failed, and the others are to end in good order.
const FAILING: Duration = Duration::from_secs(10);

/// A connection that may have to be stopped.
#[derive(Debug)]
struct Running {
    handle: CancelHandle,
    /// Whether a statement is under way.
    busy: Arc<AtomicBool>,
}

/// Says that all has to end, and cancels what still runs; where that does not help, closes the connections.
#[derive(Debug)]
pub struct Halt<'a> {
    /// Set by somebody else: Ctrl-C.
    stop: &'a AtomicBool,
    /// Set by us: one failed, so the others stop.
    failed: AtomicBool,
    /// There is nothing left to watch.
    over: AtomicBool,
    running: Mutex<Vec<Running>>,
    /// Closes the connections.
    interrupter: Interrupter,
}

impl<'a> Halt<'a> {
    /// One that ends all once `stop` is set.
    #[must_use]
    pub fn new(stop: &'a AtomicBool) -> Self {
        Self {
            stop,
            failed: AtomicBool::new(false),
            over: AtomicBool::new(false),
            running: Mutex::default(),
            interrupter: Interrupter::new(),
        }
    }

    /// Whether nothing new may begin.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.is_interrupted() || self.failed.load(Ordering::Relaxed)
    }

    /// Whether it was the stop flag.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends all. Returns whether this was the first failure.
    pub fn fail(&self) -> bool {
        !self.failed.swap(true, Ordering::Relaxed)
    }

    /// The same options for connections that this can close.
    #[must_use]
    pub fn options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.interrupted_by(&self.interrupter)
    }

    /// Opens the first connection, with options of [`Halt::options`]. `None` when all has to stop meanwhile.
    ///
    /// # Errors
    /// When there is no connection to be had.
    pub fn connect(&self, options: &ConnectOptions) -> Result<Option<Admin>, ConnectError> {
        match self.watched(|| Admin::connect(options)) {
            Err(_) if self.is_interrupted() => Ok(None),
            connected => connected.map(Some),
        }
    }

    /// Takes a connection under watch, which is cancelled only while the flag says that it is busy. It is not at first.
    pub fn watch_over(&self, handle: CancelHandle) -> Arc<AtomicBool> {
        self.watch_with(handle, false)
    }

    /// Takes a connection under watch that may be cancelled at any time.
    pub fn watch_always(&self, handle: CancelHandle) {
        self.watch_with(handle, true);
    }

    fn watch_with(&self, handle: CancelHandle, is_busy: bool) -> Arc<AtomicBool> {
        let busy = Arc::new(AtomicBool::new(is_busy));
        let running = Running { handle, busy: Arc::clone(&busy) };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(running);
        busy
    }

    /// Runs `work` while a thread watches the flags and cancels whatever is busy once one is set; where that does not help,
    /// it closes the connections. When it returns, no cancel request is under way any more.
    pub fn watched<T>(&self, work: impl FnOnce() -> T) -> T {
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
            std::thread::sleep(GLANCE);
        }
    }

    fn cancel_all(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let busy = running.iter().filter(|one| one.busy.load(Ordering::Relaxed));
        let handles: Vec<_> = busy.map(|one| one.handle.clone()).collect();
        cancel_all(&handles, CANCELLING, &self.interrupter);
    }
}
