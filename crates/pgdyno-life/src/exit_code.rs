//! Exit codes; docs/exit-codes.md explains them, and a test checks that the two agree.

use std::process::ExitCode;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// Success.
    Success = 0,
    /// The run could not start: wrong options, no connection, no such data.
    Start = 1,
    /// Errors during the run: clients or the server were lost, transactions failed, the figures are in doubt.
    Run = 2,
    /// The private server could not be installed or started.
    Server = 10,
    /// The load failed.
    Load = 11,
    /// A check found wrong data.
    Check = 12,
    /// A command of the user's around a run failed: a hook of the target.
    Hook = 13,
    /// A comparison shows that NEW is slower by more than was allowed.
    Slower = 20,
    /// A comparison cannot tell whether NEW is slower by more than was allowed.
    Unsure = 21,
    /// The doctor found something that would disturb a measurement.
    Disturbed = 30,
    /// The doctor found something that makes figures wrong, or endangers data.
    Unfit = 31,
    /// The user ended the program with Ctrl-C.
    Interrupted = 130,
}

impl Code {
    /// Returns the first code that is not success.
    #[must_use]
    pub fn first_bad(codes: Vec<Self>) -> Self {
        codes.into_iter().find(|code| *code != Self::Success).unwrap_or(Self::Success)
    }

    /// All codes.
    pub const ALL: [Self; 12] = [
        Self::Success,
        Self::Start,
        Self::Run,
        Self::Server,
        Self::Load,
        Self::Check,
        Self::Hook,
        Self::Slower,
        Self::Unsure,
        Self::Disturbed,
        Self::Unfit,
        Self::Interrupted,
    ];
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_code() {
        let text = include_str!("../../../docs/exit-codes.md");
        for code in Code::ALL {
            assert!(text.contains(&format!("\n| {} |", code as u8)), "{code:?} is missing in docs/exit-codes.md");
        }
    }
}
