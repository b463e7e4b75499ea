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
    /// File and line of the first one's statement, where the script has some.
    pub place: Option<String>,
}

impl ErrorSample {
    /// Returns the message with its place.
    fn text(&self) -> String {
        self.place.as_ref().map_or_else(|| self.message.clone(), |place| format!("{place}: {}", self.message))
    }
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

    /// Counts an error; `first` returns its message and its place.
    pub(crate) fn note(&mut self, code: SqlState, first: impl Fn() -> (String, Option<String>)) {
        let sample = || {
            let (message, place) = first();
            ErrorSample { count: 0, message, place }
        };
        self.samples.entry(code).or_insert_with(sample).count += 1;
        let ends_the_run = code.class() == ErrorClass::Resources && code != SqlState::TOO_MANY_CONNECTIONS;
        if self.give_up && ends_the_run && self.fatal.is_none() {
            self.fatal = Some(sample().text());
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
