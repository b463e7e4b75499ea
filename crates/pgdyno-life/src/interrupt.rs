//! How the user ends a run: first cleanly, then at once. The signal handler reports Ctrl-C here.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use pgdyno_engine::Stop;
use pgdyno_net::{ConnectOptions, Interrupter, Lookout};

use crate::events::{EventSink, RunEvent};
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};

/// What the user has asked for so far.
#[derive(Default)]
pub struct Interrupt {
    /// Ends a run, cleanly or at once.
    pub stop: Stop,
    /// Ends the steps after a run, too.
    pub last_stop: Stop,
    /// Whether the process that started this one has ended.
    pub orphaned: AtomicBool,
    /// Reports to the user; nothing else writes over a view.
    pub events: OnceLock<Arc<dyn EventSink>>,
    /// The phase of the run; it never leaves the first one if there is no run.
    phase: AtomicU8,
    /// Ends all waits for the server except the clients' own.
    waits: Interrupter,
    /// Ends the waits of steps that restore settings, at the second signal.
    last_waits: Interrupter,
    /// Reports what long waits are for, except while clients drive.
    pub lookout: Lookout,
}

/// No client has started.
const BEFORE: u8 = 0;
/// The clients run: they end cleanly.
const DRIVING: u8 = 1;
/// Only the steps after the run are left to end.
const AFTER: u8 = 2;

impl Interrupt {
    /// Returns the same options for connections whose waits end at Ctrl-C; while clients drive, at the second one.
    pub fn options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.interrupted_by(&self.waits).reported_by(&self.lookout)
    }

    /// Returns the same options for steps that restore settings after the first Ctrl-C: their waits end at the second
    /// one.
    pub fn last_options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.interrupted_by(&self.last_waits).reported_by(&self.lookout)
    }

    /// Returns what ends waits at the first Ctrl-C, unless clients drive.
    pub fn waits(&self) -> &Interrupter {
        &self.waits
    }

    /// Returns what ends waits at the second one.
    pub fn last_waits(&self) -> &Interrupter {
        &self.last_waits
    }

    /// Does `work`, during which the clients drive.
    pub fn driving<T>(&self, work: impl FnOnce() -> T) -> T {
        self.phase.store(DRIVING, Ordering::Release);
        let done = self.lookout.paused(work);
        self.phase.store(AFTER, Ordering::Release);
        done
    }

    /// Returns the signal as the cause of an error, if a signal ended the step: it is no error of the server.
    pub fn attribute_to_signal<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|failure| match self.waits.is_interrupted() && failure.code() != Code::Interrupted {
            true => CommandError::new(Code::Interrupted, interrupted(&failure.text())),
            false => failure,
        })
    }

    /// Ends the run cleanly, or at once if only the steps after the run are left. Reports that, and returns the text.
    pub fn end(&self) -> &'static str {
        if self.phase.load(Ordering::Acquire) == AFTER {
            return self.end_at_once();
        }
        self.end_cleanly();
        self.announce("stopping; press Ctrl-C again to force")
    }

    /// Ends the run cleanly, without a message.
    pub fn end_cleanly(&self) {
        self.stop.cleanly();
        if self.phase.load(Ordering::Acquire) == BEFORE {
            self.waits.interrupt();
        }
    }

    /// Ends everything at once. Reports that, and returns the text.
    pub fn end_at_once(&self) -> &'static str {
        self.kill();
        self.announce("ending at once")
    }

    /// Ends everything at once, without a message.
    pub fn kill(&self) {
        self.last_stop.cleanly();
        self.stop.at_once();
        self.waits.interrupt();
        self.last_waits.interrupt();
    }

    fn announce(&self, text: &'static str) -> &'static str {
        if let Some(events) = self.events.get() {
            events.event(&RunEvent::Ending { text });
        }
        text
    }
}

/// Returns the message of a step that a signal ended. Most errors already say so.
fn interrupted(text: &str) -> String {
    if text.contains("interrupted") { text.to_owned() } else { format!("interrupted: {text}") }
}
