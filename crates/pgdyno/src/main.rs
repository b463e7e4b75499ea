//! The command line of pgdyno. Only this crate prints and exits.

mod arguments;
mod cli;
mod commands;
mod interrupt;
mod signals;

use std::process::ExitCode;

use clap::Parser;

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
    let cli = match cli::Cli::try_parse_from(arguments::all()) {
        Ok(cli) => cli,
        Err(error) => return commands::usage(error),
    };
    match commands::run(cli) {
        Ok(code) => code.into(),
        Err(failure) => commands::report(&failure),
    }
}
