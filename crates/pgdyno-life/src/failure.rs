//! Why a command failed, as the user reads it.

use std::error::Error;

use pgdyno_load::{CheckError, FreshError, LoadError};
use pgdyno_net::{AdminError, ConnectError};

use crate::exit_code::Code;

/// An error, its exit code and a remedy, if the error does not contain one.
#[derive(Debug)]
pub struct CommandError {
    code: Code,
    error: Box<dyn Error + Send + Sync>,
    hint: Option<String>,
}

/// The result of a step.
pub type Result<T> = std::result::Result<T, CommandError>;

impl CommandError {
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

    /// Returns the remedy, if the error does not contain it: the one that was given, or the one for the server's message.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        self.hint.clone().or_else(|| remedy(&*self.error))
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

/// Returns the remedy of the first error in a chain of causes that has one.
fn remedy(error: &(dyn Error + 'static)) -> Option<String> {
    let of_one = |error: &(dyn Error + 'static)| {
        let of_load = error.downcast_ref::<LoadError>().map(LoadError::remedy);
        let of_check = || match error.downcast_ref::<CheckError>()? {
            CheckError::Connect(error) => Some(error.remedy()),
            CheckError::Schema(error) => Some(error.remedy()),
            CheckError::Failed { .. } | CheckError::Interrupted { .. } => None,
        };
        let of_copy = || match error.downcast_ref::<FreshError>()? {
            FreshError::Connect(error) => Some(error.remedy()),
            _ => None,
        };
        let of_connection = || error.downcast_ref::<ConnectError>().map(ConnectError::remedy);
        let of_server = || error.downcast_ref::<AdminError>().map(AdminError::remedy);
        of_load.or_else(of_check).or_else(of_copy).or_else(of_connection).or_else(of_server).flatten()
    };
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(remedy) = of_one(error) {
            return Some(remedy);
        }
        cause = error.source();
    }
    None
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
    /// Turns an error into a [`CommandError`] with this exit code.
    ///
    /// # Errors
    /// The error itself, with the exit code.
    fn or_fail(self, code: Code) -> Result<T>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrFail<T> for std::result::Result<T, E> {
    fn or_fail(self, code: Code) -> Result<T> {
        self.map_err(|error| CommandError::new(code, error))
    }
}
