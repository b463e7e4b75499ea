//! Why a command failed, as it is told to the user.

use std::error::Error;

use crate::exit_code::Code;

/// An error, its exit code and, where the error does not say it itself, the remedy.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    error: Box<dyn Error>,
    hint: Option<String>,
}

/// What a step returns.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// An error with its exit code.
    pub fn new(code: Code, error: impl Into<Box<dyn Error>>) -> Self {
        Self { code, error: error.into(), hint: None }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The exit code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// The remedy, where the error does not say it itself.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The whole chain in one line, for a record.
    #[must_use]
    pub fn text(&self) -> String {
        chain(&*self.error).join(": ")
    }

    /// Returns the message, and the causes that it does not hold already.
    #[must_use]
    pub fn chain(&self) -> Vec<String> {
        chain(&*self.error)
    }
}

/// The messages of an error and its causes; a cause that the message above holds already is not repeated.
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

/// Gives errors their exit code.
pub trait OrFail<T> {
    /// Turns an error into a [`Failure`] with this exit code.
    ///
    /// # Errors
    /// The error itself.
    fn or_fail(self, code: Code) -> Result<T>;
}

impl<T, E: Into<Box<dyn Error>>> OrFail<T> for std::result::Result<T, E> {
    fn or_fail(self, code: Code) -> Result<T> {
        self.map_err(|error| Failure::new(code, error))
    }
}
