//! `pgdyno pgbench …`, and the same program called `pgbench`.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pgdyno_engine::Stop;
use pgdyno_life::pgbench::Caught;
use pgdyno_life::pgbench::RecordWriter;
use pgdyno_net::{Env, Lookout};
use pgdyno_pgbench::messages::Io;
use pgdyno_pgbench::{World, connect};

use crate::{arguments, interrupt, signals};

/// Returns the arguments of pgbench if the program is called `pgbench`, its first argument is that, or help for it is asked for.
pub(crate) fn arguments() -> Option<Vec<OsString>> {
    let args: Vec<OsString> = arguments::all().to_vec();
    let named = args.first().and_then(|name| Path::new(name).file_name()).is_some_and(|name| name == "pgbench");
    if named {
        return Some(args);
    }
    if args.get(1).is_some_and(|arg| arg == "help") && args.get(2).is_some_and(|arg| arg == "pgbench") {
        return Some(vec!["pgbench".into(), "--help".into()]);
    }
    (args.get(1).map(OsString::as_os_str) == Some(OsStr::new("pgbench"))).then(|| args[1..].to_vec())
}

/// Runs the drop-in for pgbench.
pub(crate) fn main(args: &[OsString]) -> ExitCode {
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let argv0 = args.first().cloned().unwrap_or_default();
    let mut io = Io::new(&argv0, &mut out, &mut err);
    io.err_is_terminal = io::stderr().is_terminal();
    signals::end_by_broken_pipes();
    let (stop, caught) = (Arc::new(Stop::new()), Caught::default());
    let lookout = Lookout::new();
    // A line may be begun: "starting vacuum...". If standard error is closed, the text is lost.
    lookout.report_to(|text| drop(writeln!(io::stderr(), "\npgbench: waiting: {text}")));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let world = World {
        env: &Env::from_process(),
        time_seed: now.as_micros() as u64,
        strong_seed: &strong_seed,
        max_open_files: pgdyno_engine::max_open_files(),
        ask: &mut || connect::ask_on_terminal(&stop),
        listen: &mut || interrupt::listen_as_pgbench(&stop, &caught),
        stop: &stop,
        lookout: &lookout,
    };
    let code = pgdyno_pgbench::main(args, world, &mut io, &mut RecordWriter::new(caught.clone()));
    ExitCode::from(caught.exit_code(code))
}

fn strong_seed() -> io::Result<u64> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}
