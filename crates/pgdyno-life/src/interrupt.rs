//! How a run is asked to end: cleanly first, then at once. Whoever hears of Ctrl-C tells it here.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use pgdyno_engine::Control;
use pgdyno_net::{ConnectOptions, Interrupter};

use crate::events::{Event, EventSink};
use crate::exit_code::Code;
use crate::failure::{Failure, Result};

/// What the user has asked for so far.
#[derive(Default)]
pub struct Interrupt {
    /// Ends a run, cleanly or at once.
    pub control: Control,
    /// Whether everything is to end at once, what follows a run included.
    pub at_once: AtomicBool,
    /// Whether whoever started this process is gone.
    pub orphaned: AtomicBool,
    /// Who tells the user; nobody writes over a view.
    pub events: OnceLock<Arc<dyn EventSink>>,
    /// How far the run is; where there is none, it never begins.
    stage: AtomicU8,
    /// Ends all waiting for the server but the clients' own.
    waits: Interrupter,
    /// Ends the waits of what puts things back, with the second signal.
    last_waits: Interrupter,
}

/// No client has begun.
const BEFORE: u8 = 0;
/// The clients are at work: they end in good order.
const DRIVING: u8 = 1;
/// What follows a run is all that is left to end.
const AFTER: u8 = 2;

impl Interrupt {
    /// The same options, for connections on which nobody waits any longer after Ctrl-C; while clients drive, after the
    /// second one.
    pub fn options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.interrupted_by(&self.waits)
    }

    /// The same options for what puts things back after the first Ctrl-C: nobody waits any longer after the second one.
    pub fn last_options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.interrupted_by(&self.last_waits)
    }

    /// Ends with the first Ctrl-C, unless clients drive.
    pub fn waits(&self) -> &Interrupter {
        &self.waits
    }

    /// Ends with the second one.
    pub fn last_waits(&self) -> &Interrupter {
        &self.last_waits
    }

    /// Does `work`, in which the clients drive.
    pub fn driving<T>(&self, work: impl FnOnce() -> T) -> T {
        self.stage.store(DRIVING, Ordering::Release);
        let done = work();
        self.stage.store(AFTER, Ordering::Release);
        done
    }

    /// An error of what a signal has ended is no error of the server's.
    pub fn blamed<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|failure| match self.waits.is_interrupted() && failure.code() != Code::Interrupted {
            true => Failure::new(Code::Interrupted, interrupted(&failure.text())),
            false => failure,
        })
    }

    /// Ends the run cleanly, or at once where only what follows the run is left; tells so, and returns what it tells.
    pub fn end(&self) -> &'static str {
        if self.stage.load(Ordering::Acquire) == AFTER {
            return self.end_at_once();
        }
        self.end_cleanly();
        self.tell("ending; once more to end at once")
    }

    /// Ends the run cleanly, without a word.
    pub fn end_cleanly(&self) {
        self.control.stop();
        if self.stage.load(Ordering::Acquire) == BEFORE {
            self.waits.interrupt();
        }
    }

    /// Ends everything at once; tells so, and returns what it tells.
    pub fn end_at_once(&self) -> &'static str {
        self.kill();
        self.tell("ending at once")
    }

    /// Ends everything at once, without a word.
    pub fn kill(&self) {
        self.at_once.store(true, Ordering::Release);
        self.control.kill();
        self.waits.interrupt();
        self.last_waits.interrupt();
    }

    fn tell(&self, text: &'static str) -> &'static str {
        if let Some(events) = self.events.get() {
            events.event(&Event::Ending { text });
        }
        text
    }
}

/// The message of what a signal has ended. Most errors say so themselves.
fn interrupted(text: &str) -> String {
    if text.contains("interrupted") { text.to_owned() } else { format!("interrupted: {text}") }
}
