//! The table of exit codes: what the program returns, what each code means, and what a study makes of the code of a run.
//! The table of docs/exit-codes.md is this one, and a test compares them.

use std::process::ExitCode;

/// Makes the enumeration, the list of all codes and their meanings from one table. The comment of a code is its row in
/// docs/exit-codes.md.
macro_rules! exit_codes {
    ($($(#[doc = $meaning:literal])+ $name:ident = $number:literal,)+) => {
        /// How the program ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Code {
            $($(#[doc = $meaning])+ $name = $number,)+
        }

        impl Code {
            /// All codes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Returns the meaning, as docs/exit-codes.md has it.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($meaning),+).trim_ascii(),)+
                }
            }
        }
    };
}

exit_codes! {
    /// Success.
    Success = 0,
    /// It could not start: wrong options, a mistake in a script or `workload.toml`, no connection, a wrong
    /// password, no such database, a server without room for the clients.
    Start = 1,
    /// Errors during the run: the server or clients were lost, transactions failed other than by serialization or
    /// deadlock, nothing was committed, or an identity of the figures does not hold. Also: the record, or the file
    /// of `--json`, could not be written at the end; a warning names it, and the figures are on the terminal. And:
    /// no load that a search tested met its objectives. What was measured is in the record.
    Run = 2,
    /// The private server could not be found, downloaded or started.
    Server = 10,
    /// The load, the drop or the copy of a template failed, or the data is not the requested one, is unfinished or
    /// damaged.
    Load = 11,
    /// A check found broken data, and the report says which rows, or which index, key or routine differs from what
    /// was loaded; or a test of isolation or durability failed.
    Check = 12,
    /// A hook of the target failed or took too long: `provision`, `restart`, `drop_caches` or `teardown`. Its
    /// output is in the run directory; see [targets.md](targets.md). Also: `--fault` failed in a run that is
    /// otherwise complete; see [faults.md](faults.md).
    Hook = 13,
    /// Commits that the server had acknowledged are missing afterwards, although its settings promise to keep them
    /// (`ledger`, `--ledger`); see [failover.md](failover.md).
    CommitsLost = 14,
    /// `pgdyno cloud`: resources of a lab are left and may cost money, or the cloud did not answer. The message names them,
    /// and the commands that delete them; see [cloud.md](cloud.md).
    LeftOver = 15,
    /// `pgdyno compare --fail-if-slower`: NEW is slower by more than the limit; `pgdyno ab`: B is slower. `pgdyno
    /// history`: a slowdown within the last runs.
    Slower = 20,
    /// `pgdyno compare --fail-if-slower` cannot decide: the interval spans the limit, or there is only one run of
    /// each side. `--pass-if-unsure` makes it 0. `pgdyno ab` cannot decide within its budget. `pgdyno search`:
    /// noise hides whether any load meets the objectives. `pgdyno history` has too few runs; `--pass-if-unsure`
    /// makes it 0.
    Unsure = 21,
    /// `pgdyno run --slo`: the run is complete and does not meet one of its objectives, or cannot show whether it does.
    Missed = 22,
    /// `pgdyno doctor` found something that would distort a measurement: its most severe finding is a warning.
    Disturbed = 30,
    /// `pgdyno doctor` found something that makes figures wrong or endangers data: its most severe finding is an error.
    Unfit = 31,
    /// Ended by Ctrl-C or SIGTERM. What was measured until then is in the record, which says `interrupted`.
    Interrupted = 130,
}

impl Code {
    /// Returns the code with this number.
    #[must_use]
    pub fn of_number(number: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| i32::from(*code as u8) == number)
    }

    /// Returns the code of a study that ends because one of its runs did not give what it needs. `number` is the exit code of
    /// the run's process; none if a signal ended it. A cause that the run's code names stays; what is left is a failed run.
    #[must_use]
    pub fn of_failed_run(number: Option<i32>) -> Self {
        let Some(code) = number.and_then(Self::of_number) else { return Self::Run };
        match code {
            Self::Start | Self::Server | Self::Load | Self::Check | Self::Hook | Self::CommitsLost => code,
            // A run that says success has no figures here, and one that says interrupted was not interrupted by the study's user.
            Self::Success | Self::Run | Self::Interrupted => Self::Run,
            // No run ends with these.
            Self::LeftOver | Self::Slower | Self::Unsure | Self::Missed | Self::Disturbed | Self::Unfit => Self::Run,
        }
    }

    /// Returns true if a run that ends so is complete, whether or not its figures meet its objectives.
    #[must_use]
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Success | Self::Missed)
    }

    /// Returns the first code that is not success.
    #[must_use]
    pub fn first_bad(codes: Vec<Self>) -> Self {
        codes.into_iter().find(|code| *code != Self::Success).unwrap_or(Self::Success)
    }
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
    fn the_table_of_the_documentation_is_this_one() {
        let text = include_str!("../../../docs/exit-codes.md");
        let documented: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("| --- ")).skip(1).collect();
        let documented: Vec<&str> = documented.into_iter().take_while(|line| line.starts_with("| ")).collect();
        let table: Vec<String> =
            Code::ALL.iter().map(|code| format!("| {} | {} |", *code as u8, code.meaning())).collect();
        assert_eq!(documented, table, "write the table of docs/exit-codes.md anew:\n{}", table.join("\n"));
    }

    #[test]
    fn a_failed_run_hands_its_cause_to_the_study() {
        for code in [Code::Start, Code::Run, Code::Server, Code::Load, Code::Check, Code::Hook, Code::CommitsLost] {
            assert_eq!(Code::of_failed_run(Some(i32::from(code as u8))), code);
        }
        for number in [Some(0), Some(130), Some(99), Some(-1), None] {
            assert_eq!(Code::of_failed_run(number), Code::Run, "{number:?}");
        }
    }
}
