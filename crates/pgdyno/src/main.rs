//! The command line of pgdyno. Only this crate prints and exits.

mod arguments;
mod cli;
mod commands;
mod interrupt;
mod signals;

use std::process::ExitCode;

use clap::Parser;
use pgdyno_study::suite::sweep::Sweep;

fn main() -> ExitCode {
    arguments::hide_secrets();
    // The supervisor of a private server is this same program, so that nothing else needs to be installed.
    if let Some(code) = pgdyno_life::supervise() {
        return code;
    }
    if let Some(args) = commands::pgbench::arguments() {
        return commands::pgbench::main(&args);
    }
    if let Some(code) = commands::version::answer() {
        return code;
    }
    let sweep = Sweep::of(arguments::all());
    let args = sweep.as_ref().map_or(arguments::all(), |sweep| &sweep.first);
    let cli = match cli::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return commands::usage(error),
    };
    commands::fit_terminal();
    let ran = match &sweep {
        Some(sweep) => commands::sweep(cli, sweep),
        None => commands::run(cli),
    };
    match ran {
        Ok(code) => code.into(),
        Err(failure) => commands::report(&failure),
    }
}
