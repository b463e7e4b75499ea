//! What a user sees while a run goes on. [`Progress`] shows its events: as a line, or on the whole screen of a terminal.
//!
//! Of the full-screen view `model` knows what is shown, `draw` what it looks like, `screen` makes bytes of it, `terminal`
//! brings them to the terminal and gives that back, `keys` and `signals` are what comes from there, and `view` is the thread
//! in which all of that happens. The run hands over what it has under a short lock and never waits for the terminal.

mod draw;
mod ignored;
mod keys;
mod model;
mod progress;
mod screen;
mod signals;
mod terminal;
mod view;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use pgdyno_life::events::Event;

pub use ignored::is_ignored;
use model::Model;
use model::facts::Facts;
pub use progress::Progress;
pub use terminal::give_back;

/// What the run and the view's thread share.
struct Shared {
    begun: Instant,
    model: Mutex<Model>,
    /// Whether the view is to end.
    ended: AtomicBool,
    /// Whether the user has left it. Changes under the model's lock.
    left: AtomicBool,
}

impl Shared {
    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view is over: what it showed is said again, and what comes next is said elsewhere.
    fn left(&self) {
        let mut model = self.model();
        self.left.store(true, Ordering::Release);
        let told = model.told.take();
        drop(model);
        for line in told {
            // Where standard error is gone there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{}", line.trim_start_matches('\n'));
        }
    }
}

/// A view that is shown.
struct Live {
    shared: Arc<Shared>,
    waker: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Shows a run on the terminal of standard error. `None` where there is none, or it is too small or too simple; the
    /// run goes on without.
    fn begin(facts: Facts) -> Option<Self> {
        let tty = terminal::open()?;
        let size = terminal::size(&tty);
        if size.width < draw::LEAST.0 || size.height < draw::LEAST.1 {
            return None;
        }
        let (waker, woken) = UnixStream::pair().ok()?;
        waker.set_nonblocking(true).ok()?;
        woken.set_nonblocking(true).ok()?;
        let shared = Arc::new(Shared {
            begun: Instant::now(),
            model: Mutex::new(Model::new(facts)),
            ended: AtomicBool::new(false),
            left: AtomicBool::new(false),
        });
        let stops = signals::Stops::watch(&waker).ok()?;
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let view = view::View { shared: Arc::clone(&shared), tty, woken, stops, colour };
        let thread = std::thread::Builder::new().name("pgdyno-live".to_owned()).spawn(move || view.show()).ok()?;
        Some(Self { shared, waker, thread: Some(thread) })
    }

    /// Shows what happened. `false` where the user has left the view.
    fn event(&self, event: &Event<'_>) -> bool {
        let mut model = self.shared.model();
        let shown = !self.shared.left.load(Ordering::Acquire);
        if shown {
            model.event(self.shared.begun.elapsed().as_secs_f64(), event);
        }
        shown
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        view::wake(&self.waker);
        if let Some(thread) = self.thread.take() {
            // A panic has been told of by its own message.
            let _ = thread.join();
        }
    }
}
