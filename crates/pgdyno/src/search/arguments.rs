//! The arguments of a search's runs: those of the search itself that a run takes too.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Args as _, CommandFactory as _};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};

use crate::cli::{Cli, RunArgs};

/// What every run of a search is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Common {
    options: Vec<String>,
    positionals: Vec<String>,
}

impl Common {
    /// From a command line of `pgdyno search`; the arguments in `without` are not handed on.
    pub(crate) fn of(command_line: impl IntoIterator<Item = OsString>, without: &[&str]) -> Result<Self> {
        let matches = Cli::command().try_get_matches_from(command_line).or_fail(Code::Start)?;
        let (_, given) = matches.subcommand().ok_or_else(|| Failure::new(Code::Start, "no arguments of a search"))?;
        let mut common = Self { options: Vec::new(), positionals: Vec::new() };
        for arg in RunArgs::augment_args(clap::Command::new("run")).get_arguments() {
            let id = arg.get_id().as_str();
            if without.contains(&id) || given.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let option = arg.get_long().map(|long| format!("--{long}"));
            if !arg.get_action().takes_values() {
                common.options.extend(option);
                continue;
            }
            for value in given.get_raw(id).into_iter().flatten() {
                let value =
                    value.to_str().ok_or_else(|| Failure::new(Code::Start, format!("{value:?} is no UTF-8")))?;
                match &option {
                    Some(option) => common.options.push(format!("{option}={value}")),
                    None => common.positionals.push(value.to_owned()),
                }
            }
        }
        Ok(common)
    }

    /// With further options.
    pub(crate) fn and(mut self, options: Vec<String>) -> Self {
        self.options.extend(options);
        self
    }

    /// The arguments of one run.
    pub(crate) fn with(&self, own: &[String]) -> Vec<String> {
        let end = ["--".to_owned()];
        [&self.options, own, &end, self.positionals.as_slice()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed_on(words: &[&str], without: &[&str]) -> Vec<String> {
        let line = ["pgdyno", "search"].iter().chain(words).map(OsString::from);
        Common::of(line, without).unwrap().with(&["--rate=5".to_owned()])
    }

    #[test]
    fn what_a_run_takes_is_handed_on_and_what_the_search_decides_is_not() {
        let words = [
            "a.sql@2",
            "b.sql",
            "--slo",
            "p99 < 1ms",
            "-qc8",
            "-D",
            "x=1",
            "-Dy=-2",
            "-T",
            "5s",
            "--ramp=0",
            "--out",
            "o",
        ];
        assert_eq!(
            handed_on(&words, &["out", "quiet"]),
            [
                "--param=x=1",
                "--param=y=-2",
                "--clients=8",
                "--time=5s",
                "--ramp=0",
                "--rate=5",
                "--",
                "a.sql@2",
                "b.sql"
            ]
        );
        assert_eq!(handed_on(&["--slo=max<1s", "--from-template"], &[]), ["--from-template=", "--rate=5", "--"]);
    }
}
