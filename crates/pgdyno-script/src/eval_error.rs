//! What a command can fail with as it runs.

use crate::numbers::fixed;

/// Why a command failed. Its text is what pgbench prints after `pgbench: error: `; names and values that are not
/// UTF-8 are shown as far as they are.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// An expression names a variable that has no value.
    #[error("undefined variable \"{0}\"")]
    Undefined(Box<str>),
    /// A variable's text is neither a number nor a boolean nor null.
    #[error("malformed variable \"{name}\" value: \"{text}\"")]
    Malformed {
        /// The variable.
        name: Box<str>,
        /// Its text.
        text: Box<str>,
    },
    /// A variable's text is empty, which is no value. pgbench fails here without a word.
    #[error("malformed variable \"{0}\" value: \"\"")]
    Empty(Box<str>),
    /// A variable's text is a sign without digits, or blank.
    #[error("invalid input syntax for type bigint: \"{0}\"")]
    NoInteger(Box<str>),
    /// A variable's text is an integer that does not fit.
    #[error("value \"{0}\" is out of range for type bigint")]
    TooLarge(Box<str>),
    /// A value of a type that will not do.
    #[error("cannot coerce {from} to {to}")]
    Coercion {
        /// The value's type.
        from: &'static str,
        /// The type that is wanted.
        to: &'static str,
    },
    /// A double that no bigint can hold.
    #[error("double to int overflow for {}", fixed(*.0))]
    DoubleToInt(f64),
    /// `add`, `sub`, `mul` or `div` of two bigints is none.
    #[error("bigint {0} out of range")]
    Overflow(&'static str),
    /// `/` or `%` by integer zero.
    #[error("division by zero")]
    DivisionByZero,
    /// `random(2, 1)`.
    #[error("empty range given to random")]
    EmptyRange,
    /// A range with more than 2^63-1 numbers.
    #[error("random range is too large")]
    RangeTooLarge,
    /// The third argument of `random_gaussian`.
    #[error("gaussian parameter must be at least 2.000000 (not {})", fixed(*.0))]
    Gaussian(f64),
    /// The third argument of `random_zipfian`.
    #[error("zipfian parameter must be in range [1.001, 1000] (not {})", fixed(*.0))]
    Zipfian(f64),
    /// The third argument of `random_exponential`.
    #[error("exponential parameter must be greater than zero (not {})", fixed(*.0))]
    Exponential(f64),
    /// The second argument of `permute`.
    #[error("permute size parameter must be greater than zero")]
    PermuteSize,
    /// More than 16 arguments; noticed only after the first 16 are evaluated.
    #[error("too many function arguments, maximum is 16")]
    TooManyArguments,
    /// A value for a variable that may not be called that.
    #[error("{context}: invalid variable name: \"{name}\"")]
    InvalidName {
        /// `set`, `setshell`, `gset` or `aset`.
        context: Box<str>,
        /// The name.
        name: Box<str>,
    },
    /// `\sleep`, `\shell` or `\setshell` names a variable that has no value.
    #[error("{context}: undefined variable \"{name}\"")]
    UndefinedIn {
        /// The command, or the program that is to run.
        context: Box<str>,
        /// The variable; of a shell command, with its colon.
        name: Box<str>,
    },
    /// `\sleep :v`, and v is no integer.
    #[error("{command}: invalid sleep time \"{text}\" for variable \"{name}\"")]
    SleepTime {
        /// The command as it is spelled.
        command: Box<str>,
        /// The variable's text.
        text: Box<str>,
        /// The variable.
        name: Box<str>,
    },
    /// A shell command of more than 254 bytes.
    #[error("{0}: shell command is too long")]
    ShellTooLong(Box<str>),
    /// A shell command that could not start, or (of `\shell`) ended with anything but success.
    #[error("{0}: could not launch shell command")]
    ShellLaunch(Box<str>),
    /// `\setshell` ran a command that printed nothing.
    #[error("{0}: could not read result of shell command")]
    ShellSilent(Box<str>),
    /// `\setshell` ran a command whose first line is no integer.
    #[error("{program}: shell command must return an integer (not \"{text}\")")]
    ShellNoInteger {
        /// The program.
        program: Box<str>,
        /// What it printed, with the end of its line.
        text: Box<str>,
    },
}

impl EvalError {
    /// What stands at the end of pgbench's line about the client: `client 0 aborted in command 1 (set) of script 0; `
    /// and this.
    #[must_use]
    pub fn consequence(&self) -> &'static str {
        match self {
            Self::InvalidName { context, .. } if !context.eq_ignore_ascii_case("setshell") => {
                "assignment of meta-command failed"
            }
            Self::InvalidName { .. }
            | Self::UndefinedIn { .. }
            | Self::SleepTime { .. }
            | Self::ShellTooLong(_)
            | Self::ShellLaunch(_)
            | Self::ShellSilent(_)
            | Self::ShellNoInteger { .. } => "execution of meta-command failed",
            _ => "evaluation of meta-command failed",
        }
    }
}
