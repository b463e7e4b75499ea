//! The drop-in as a process of its own, with a standard input, shell commands and a process number: this test
//! binary, called again.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::process::Command;

use pgdyno_engine::Stop;
use pgdyno_net::{Env, Lookout, Secret};
use pgdyno_pgbench::World;
use pgdyno_pgbench::messages::Io;

/// Its arguments, if the test binary is called as the drop-in.
const ARGS: &str = "PGDYNO_TEST_DROP_IN";

/// Between two arguments.
const SEPARATOR: char = '\u{1f}';

/// What comes before this on standard output is the test harness's.
const BEGIN: &str = "\u{2}begin\u{3}\n";

/// A command that is the drop-in with these arguments. Its environment is empty.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "drop_in::process", "--nocapture"]);
    command.env_clear().env(ARGS, args.join(&SEPARATOR.to_string()));
    command
}

/// What the drop-in itself wrote to standard output.
pub(crate) fn own_output(stdout: &str) -> &str {
    stdout.split_once(BEGIN).map_or(stdout, |(_, own)| own)
}

/// Not a test, but what [`command`] runs.
#[test]
#[expect(clippy::disallowed_methods, reason = "this is a program of its own")]
fn process() {
    let Ok(args) = std::env::var(ARGS) else { return };
    let args: Vec<OsString> = ["pgbench"].into_iter().chain(args.split(SEPARATOR)).map(OsString::from).collect();
    let (mut out, mut err) = (io::stdout(), io::stderr());
    out.write_all(BEGIN.as_bytes()).unwrap();
    let stop = Stop::new();
    let world = World {
        env: &Env::from_process(),
        time_seed: std::process::id().into(),
        strong_seed: &|| {
            let mut bytes = [0; 8];
            std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
            Ok(u64::from_ne_bytes(bytes))
        },
        max_open_files: pgdyno_engine::max_open_files(),
        ask: &mut || Ok(Secret::new(String::new())),
        listen: &mut || Ok(()),
        stop: &stop,
        lookout: &Lookout::new(),
    };
    let code = pgdyno_pgbench::main(&args, world, &mut Io::new(&args[0], &mut out, &mut err), &mut ());
    std::process::exit(code.into());
}
