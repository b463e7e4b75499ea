//! Signals that stop or end the program while the view uses the terminal: it is restored first.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTSTP};
use signal_hook::low_level::emulate_default_handler;
use signal_hook::{flag, low_level};

use super::terminal;
use crate::is_ignored;

/// The signals that have come. Outside the view they have their default effect.
#[derive(Debug)]
pub(super) struct Stops {
    unwatched: Arc<AtomicBool>,
    came: Vec<(i32, Arc<AtomicBool>)>,
}

impl Stops {
    /// Watches signals from now on; each of them also writes to `wake`. Signals that were ignored when the program
    /// started stay ignored.
    pub(super) fn watch(wake: &UnixStream) -> io::Result<Self> {
        let mut stops = Self { unwatched: Arc::new(AtomicBool::new(false)), came: Vec::new() };
        for signal in [SIGTSTP, SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal)) {
            let came = Arc::new(AtomicBool::new(false));
            // In this order: handlers are never removed, and after the view the default action must come first.
            flag::register_conditional_default(signal, Arc::clone(&stops.unwatched))?;
            flag::register(signal, Arc::clone(&came))?;
            low_level::pipe::register(signal, wake.try_clone()?)?;
            stops.came.push((signal, came));
        }
        Ok(stops)
    }

    /// Returns true if a signal has come and was not handled.
    pub(super) fn is_due(&self) -> bool {
        self.came.iter().any(|(_, came)| came.load(Ordering::Acquire))
    }

    /// Restores the terminal and does what a signal asks for, if one came. Returns true if the program survived one: it
    /// was stopped and continued.
    pub(super) fn handle(&self) -> bool {
        let mut stopped = false;
        for (signal, came) in &self.came {
            if came.swap(false, Ordering::AcqRel) {
                terminal::restore();
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
