//! The command line of pgdyno. Only this crate prints, reads the environment and exits.

mod child;
mod cli;
mod commands;
mod exit_code;
mod failure;
mod interrupt;
mod life;
mod live;
mod progress;
mod search;
mod signals;
mod suite;
mod target;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // A private server's supervisor is this same program, so that nothing else needs to be installed.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == pgdyno_server::SUPERVISE) {
        return pgdyno_server::supervise_main();
    }
    if let Some(args) = commands::pgbench::arguments() {
        return commands::pgbench::main(&args);
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return commands::usage(&error),
    };
    match commands::run(cli) {
        Ok(code) => code.into(),
        Err(failure) => failure.report(),
    }
}
