//! Errors of running commands.

use crate::numbers::fixed;

/// The error of a failed command. Its text is what pgbench prints after `pgbench: error: `. Names and values are
/// converted to UTF-8.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// An expression uses a variable without a value.
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
    /// A variable's text is empty, which is no value. pgbench fails here without a message.
    #[error("malformed variable \"{0}\" value: \"\"")]
    Empty(Box<str>),
    /// A variable's text is a sign without digits, or blank.
    #[error("invalid input syntax for type bigint: \"{0}\"")]
    NoInteger(Box<str>),
    /// A variable's text is an integer that does not fit.
    #[error("value \"{0}\" is out of range for type bigint")]
    TooLarge(Box<str>),
    /// A value of the wrong type.
    #[error("cannot coerce {from} to {to}")]
    Coercion {
        /// The value's type.
        from: &'static str,
        /// The type needed.
        to: &'static str,
    },
    /// A double that no bigint can hold.
    #[error("double to int overflow for {}", fixed(*.0))]
    DoubleToInt(f64),
    /// `add`, `sub`, `mul` or `div` of two bigints is out of range.
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
    /// More than 16 arguments; detected only after the first 16 were evaluated.
    #[error("too many function arguments, maximum is 16")]
    TooManyArguments,
    /// A value for a variable whose name is not allowed.
    #[error("{context}: invalid variable name: \"{name}\"")]
    InvalidName {
        /// `set`, `setshell`, `gset` or `aset`.
        context: Box<str>,
        /// The name.
        name: Box<str>,
    },
    /// `\sleep`, `\shell` or `\setshell` uses a variable without a value.
    #[error("{context}: undefined variable \"{name}\"")]
    UndefinedIn {
        /// The command, or the program to run.
        context: Box<str>,
        /// The variable; in a shell command with its colon.
        name: Box<str>,
    },
    /// The variable of `\sleep :v` is not an integer.
    #[error("{command}: invalid sleep time \"{text}\" for variable \"{name}\"")]
    SleepTime {
        /// The command as written.
        command: Box<str>,
        /// The variable's text.
        text: Box<str>,
        /// The variable.
        name: Box<str>,
    },
    /// A shell command of more than 254 bytes.
    #[error("{0}: shell command is too long")]
    ShellTooLong(Box<str>),
    /// A shell command could not be started, or (with `\shell`) did not succeed.
    #[error("{0}: could not launch shell command")]
    ShellLaunch(Box<str>),
    /// The command of `\setshell` printed nothing.
    #[error("{0}: could not read result of shell command")]
    ShellSilent(Box<str>),
    /// The first line of the command of `\setshell` is not an integer.
    #[error("{program}: shell command must return an integer (not \"{text}\")")]
    ShellNoInteger {
        /// The program.
        program: Box<str>,
        /// Its output, with the line end.
        text: Box<str>,
    },
}

impl EvalError {
    /// Returns the end of pgbench's line about the client: `client 0 aborted in command 1 (set) of script 0; ` and
    /// this.
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
