//! Why a command failed, as it is told to the user.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use crate::exit_code::Code;

/// An error, its exit code and, where the error does not say it itself, the remedy.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    error: Box<dyn Error>,
    hint: Option<String>,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(code: Code, error: impl Into<Box<dyn Error>>) -> Self {
        Self { code, error: error.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// The remedy, where the error does not say it itself.
    pub(crate) fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The whole chain in one line, for a record.
    pub(crate) fn text(&self) -> String {
        chain(&*self.error).join(": ")
    }

    /// Prints it and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let mut lines = chain(&*self.error).into_iter();
        let mut text = format!("error: {}\n", lines.next().unwrap_or_default());
        for cause in lines {
            text += &format!("  caused by: {cause}\n");
        }
        if let Some(hint) = self.hint {
            text += &format!("  hint: {hint}\n");
        }
        // Where standard error is gone there is nobody to tell.
        let _ = std::io::stderr().write_all(text.as_bytes());
        self.code.into()
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
pub(crate) trait OrFail<T> {
    fn or_fail(self, code: Code) -> Result<T>;
}

impl<T, E: Into<Box<dyn Error>>> OrFail<T> for std::result::Result<T, E> {
    fn or_fail(self, code: Code) -> Result<T> {
        self.map_err(|error| Failure::new(code, error))
    }
}
