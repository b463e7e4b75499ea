//! `pgdyno completions` and `pgdyno man`: from the command line as clap knows it.

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};

use crate::cli::Cli;

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Result<Code> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pgdyno", &mut script);
    super::print(&script)?;
    Ok(Code::Success)
}

/// Writes a manual page for pgdyno and for each command.
pub(crate) fn pages(directory: &Path) -> Result<Code> {
    std::fs::create_dir_all(directory).or_fail(Code::Start)?;
    clap_mangen::generate_to(Cli::command(), directory).or_fail(Code::Start)?;
    Ok(Code::Success)
}
