//! Signals that stop or end the program while the view has the terminal: it is given back first.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTSTP};
use signal_hook::low_level::emulate_default_handler;
use signal_hook::{flag, low_level};

use super::terminal;
use crate::is_ignored;

/// Which have come. While nobody looks they do what they always do.
#[derive(Debug)]
pub(super) struct Stops {
    unwatched: Arc<AtomicBool>,
    came: Vec<(i32, Arc<AtomicBool>)>,
}

impl Stops {
    /// Looks from now on; each of them also writes to `wake`. Those that were ignored when the program began stay ignored.
    pub(super) fn watch(wake: &UnixStream) -> io::Result<Self> {
        let mut stops = Self { unwatched: Arc::new(AtomicBool::new(false)), came: Vec::new() };
        for signal in [SIGTSTP, SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal)) {
            let came = Arc::new(AtomicBool::new(false));
            // In this order: a handler stays for good, and after the view the default has to come first.
            flag::register_conditional_default(signal, Arc::clone(&stops.unwatched))?;
            flag::register(signal, Arc::clone(&came))?;
            low_level::pipe::register(signal, wake.try_clone()?)?;
            stops.came.push((signal, came));
        }
        Ok(stops)
    }

    /// Whether one has come that nobody has obeyed.
    pub(super) fn is_due(&self) -> bool {
        self.came.iter().any(|(_, came)| came.load(Ordering::Acquire))
    }

    /// Gives the terminal back and does what a signal asks for, if one came. Whether one did that the program survived:
    /// it was stopped and goes on.
    pub(super) fn obey(&self) -> bool {
        let mut stopped = false;
        for (signal, came) in &self.came {
            if came.swap(false, Ordering::AcqRel) {
                terminal::put_down();
                stopped = true;
                let _ = emulate_default_handler(*signal);
            }
        }
        stopped
    }
}

impl Drop for Stops {
    fn drop(&mut self) {
        self.unwatched.store(true, Ordering::Release);
    }
}
