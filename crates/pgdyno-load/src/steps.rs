//! The steps of loads and runs on a server: which ones are required, what each needs, and what its absence costs.
//!
//! Code that carries out such a step asks [`ServerStep::decide`] what a failure means, so that the table decides, not the place. A
//! required step that fails ends the load or run; an optional one is left out, with a warning.

mod table;

pub use table::*;

use pgdyno_net::AdminError;

/// A step of a load or run on the server.
#[derive(Debug, PartialEq, Eq)]
pub struct ServerStep {
    /// What it does, as an imperative: `order a checkpoint`.
    pub name: &'static str,
    /// Whether a load or run is impossible without it.
    pub is_required: bool,
    /// The rights, settings and limits that it needs.
    pub needs: &'static str,
    /// What its absence costs.
    pub without: &'static str,
}

/// The error of a step without which the load or run cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("failed to {}: {source}", .step.name)]
pub struct StepError {
    /// The step.
    pub step: &'static ServerStep,
    /// The server's message.
    pub source: AdminError,
}

/// What became of a step.
#[derive(Debug, PartialEq, Eq)]
pub enum StepOutcome<T> {
    /// It was done, with this result.
    With(T),
    /// It was left out: the warning says why, and what that costs.
    LeftOut(String),
}

impl<T> StepOutcome<T> {
    /// Returns the result, and passes on the warning of a step that was left out.
    pub fn or_warn(self, warn: impl FnOnce(String)) -> Option<T> {
        match self {
            Self::With(value) => Some(value),
            Self::LeftOut(warning) => {
                warn(warning);
                None
            }
        }
    }
}

impl ServerStep {
    /// Decides what the outcome of this step means: the failure of an optional one is only a warning. A lost connection is an
    /// error in any case: nothing else can be done with it.
    ///
    /// # Errors
    /// When the step is required and failed, or the connection is lost.
    pub fn decide<T>(&'static self, outcome: Result<T, AdminError>) -> Result<StepOutcome<T>, StepError> {
        match outcome {
            Ok(value) => Ok(StepOutcome::With(value)),
            Err(source) if self.is_required || source.is_lost() => Err(StepError { step: self, source }),
            Err(source) => Ok(StepOutcome::LeftOut(self.left_out(&source.reason()))),
        }
    }

    /// Returns the warning of an optional step that was left out for a reason.
    #[must_use]
    pub fn left_out(&self, why: &str) -> String {
        format!("left out: {}: {why}; {}", self.name, self.without)
    }
}

#[cfg(test)]
mod tests;
