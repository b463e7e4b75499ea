//! Errors of the server, counted by SQLSTATE.

use std::collections::BTreeMap;

use pgdyno_wire::{ErrorClass, SqlState};

/// Errors with one SQLSTATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSample {
    /// How many there were, retried ones included.
    pub count: u64,
    /// The message of the first one.
    pub message: String,
}

/// Errors by SQLSTATE.
#[derive(Debug)]
pub(crate) struct ErrorLog {
    samples: BTreeMap<SqlState, ErrorSample>,
    /// Whether some errors end the run.
    give_up: bool,
    /// The first error that ends the whole run, such as a full disk of the server.
    fatal: Option<String>,
}

impl ErrorLog {
    pub(crate) fn new(give_up: bool) -> Self {
        Self { samples: BTreeMap::new(), give_up, fatal: None }
    }

    pub(crate) fn note(&mut self, code: SqlState, message: impl Fn() -> String) {
        let sample = self.samples.entry(code).or_insert_with(|| ErrorSample { count: 0, message: message() });
        sample.count += 1;
        let ends_the_run = code.class() == ErrorClass::Resources && code != SqlState::TOO_MANY_CONNECTIONS;
        if self.give_up && ends_the_run && self.fatal.is_none() {
            self.fatal = Some(message());
        }
    }

    /// Removes an error that its script expected.
    pub(crate) fn forget(&mut self, code: SqlState) {
        if let Some(sample) = self.samples.get_mut(&code) {
            sample.count -= 1;
            if sample.count == 0 {
                self.samples.remove(&code);
            }
        }
    }

    /// Returns all errors noted so far, and empties the log.
    pub(crate) fn take(&mut self) -> BTreeMap<SqlState, ErrorSample> {
        std::mem::take(&mut self.samples)
    }

    /// Returns the error that ends the run, once.
    pub(crate) fn take_fatal(&mut self) -> Option<String> {
        self.fatal.take()
    }
}
