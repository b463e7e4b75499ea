//! Starts a private PostgreSQL and holds it until its standard input ends, as pgdyno does for a run.
//!
//! `private_server DIR [--tcp] [start | stop [--keep-data] | status]`; the tests kill it in every way.

#![expect(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout, reason = "a program of its own")]

use std::process::ExitCode;

use pgdyno_server::{HeldServer, Places, PrivateServerOptions, SUPERVISE, Want, kept, supervise_main};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == SUPERVISE) {
        return supervise_main();
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let places = Places::at(arguments.first().ok_or("which directory?")?);
    let mut options = PrivateServerOptions::new(std::env::current_exe()?, places.clone());
    options.path = std::env::var_os("PATH");
    options.tcp = has("--tcp");
    let want = std::env::var_os("PGDYNO_POSTGRES").map_or(Want::Any, |dir| Want::Directory(dir.into()));
    let mut progress = |step| eprintln!("{step:?}");
    if has("start") {
        let started = kept::start(&want, &options, &mut progress)?;
        println!("{}", started.server.psql_command());
        return Ok(());
    }
    if has("stop") {
        return Ok(kept::stop(&places, has("--keep-data"))?);
    }
    if has("status") {
        println!("{:?}", kept::status(&places)?);
        return Ok(());
    }
    let embedded = HeldServer::start(&want, &options, &mut progress)?;
    let server = embedded.server();
    println!(
        "{} {} {} {} {}",
        server.postmaster_pid(),
        server.supervisor_pid(),
        server.port(),
        server.socket_dir().display(),
        server.data_dir().display()
    );
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    embedded.stop();
    Ok(())
}
