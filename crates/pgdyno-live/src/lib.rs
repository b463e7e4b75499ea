//! Shows a run to the user while it goes on. [`ProgressView`] shows its events as a line, or on the full screen of a
//! terminal.
//!
//! The parts of the full-screen view: `model` has the data, `draw` the layout, `screen` turns it into bytes, `terminal`
//! writes them and restores the terminal, `keys` and `signals` are the inputs, and `view` is the thread that does all
//! of this. The run passes its events under a short lock and never waits for the terminal.

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

use pgdyno_life::events::RunEvent;

pub use ignored::is_ignored;
use model::Model;
use model::facts::Facts;
use model::messages::Messages;
use pgdyno_untrusted::TerminalText;
pub use progress::ProgressView;
pub use terminal::give_back;

/// Shared by the run and the view's thread.
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

    /// Ends the view: prints the messages that it showed. Later ones are printed elsewhere.
    fn left(&self) {
        let mut model = self.model();
        self.left.store(true, Ordering::Release);
        let messages = model.messages.take();
        drop(model);
        for line in messages {
            // If standard error is closed, the messages are lost.
            let _ = writeln!(std::io::stderr(), "{}", TerminalText(line.trim_start_matches('\n')));
        }
    }
}

/// A view on the screen.
struct Live {
    shared: Arc<Shared>,
    waker: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Shows a run on the terminal of standard error. Returns `None` if there is no terminal, or it is too small or too
    /// simple; the run goes on without a view. `said` is what the terminal has of the run already.
    fn begin(facts: Facts, said: Vec<String>) -> Option<Self> {
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
            model: Mutex::new(Model::new(facts, Messages::printed(said))),
            ended: AtomicBool::new(false),
            left: AtomicBool::new(false),
        });
        let stops = signals::Stops::watch(&waker).ok()?;
        let colour = terminal::has_colour();
        let view = view::View { shared: Arc::clone(&shared), tty, woken, stops, colour };
        let thread = std::thread::Builder::new().name("pgdyno-live".to_owned()).spawn(move || view.show()).ok()?;
        Some(Self { shared, waker, thread: Some(thread) })
    }

    /// Shows an event. Returns `false` if the user has left the view.
    fn event(&self, event: &RunEvent<'_>) -> bool {
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
            // The panic has printed its own message.
            let _ = thread.join();
        }
    }
}
