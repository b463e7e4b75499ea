//! Why a command failed, as the user reads it.

use std::error::Error;

use crate::exit_code::Code;

/// An error, its exit code and a remedy, if the error does not contain one.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    error: Box<dyn Error + Send + Sync>,
    hint: Option<String>,
}

/// The result of a step.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Returns an error with its exit code.
    pub fn new(code: Code, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { code, error: error.into(), hint: None }
    }

    /// Returns the same with a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the exit code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the remedy, if the error does not contain it.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns all causes in one line, for a record.
    #[must_use]
    pub fn text(&self) -> String {
        chain(&*self.error).join(": ")
    }

    /// Returns the message and those causes that it does not contain.
    #[must_use]
    pub fn chain(&self) -> Vec<String> {
        chain(&*self.error)
    }
}

/// Returns the messages of an error and its causes. Skips a cause that the previous message contains.
fn chain(error: &dyn Error) -> Vec<String> {
    let mut lines = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !lines.last().is_some_and(|line| line.contains(&text)) {
            lines.push(text);
        }
        source = cause.source();
    }
    lines
}

/// Adds exit codes to errors.
pub trait OrFail<T> {
    /// Turns an error into a [`Failure`] with this exit code.
    ///
    /// # Errors
    /// The error itself, with the exit code.
    fn or_fail(self, code: Code) -> Result<T>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrFail<T> for std::result::Result<T, E> {
    fn or_fail(self, code: Code) -> Result<T> {
        self.map_err(|error| Failure::new(code, error))
    }
}
