//! The whole program: from arguments to an exit code.

use std::ffi::OsString;
use std::io;

use pgdyno_engine::Stop;
use pgdyno_net::{ConnectOptions, Env, Lookout};

use crate::connect::{self, Ask};
use crate::init;
use crate::messages::{ExitReason, Io};
use crate::observer::BenchmarkObserver;
use crate::options::{self, ConnectionTarget, Parsed, Surroundings};
use crate::run;
use crate::scripts::Library;

/// The environment of the program.
pub struct World<'a> {
    /// Environment variables and the user's name.
    pub env: &'a Env,
    /// A seed from the time.
    pub time_seed: u64,
    /// Returns a strong random number.
    pub strong_seed: &'a dyn Fn() -> io::Result<u64>,
    /// The hard limit of open files.
    pub max_open_files: Option<u64>,
    /// Asks the user for a password.
    pub ask: Ask<'a>,
    /// Makes Ctrl-C end the benchmark or the initialization; called after the options were parsed.
    pub listen: &'a mut dyn FnMut() -> io::Result<()>,
    /// Ctrl-C ends it.
    pub stop: &'a Stop,
    /// Reports what long waits before the benchmark are for.
    pub lookout: &'a Lookout,
}

/// Runs the program with `args`, which start with its name. `observer` receives the events of a benchmark; `()` ignores
/// them.
pub fn main(args: &[OsString], world: World<'_>, io: &mut Io<'_>, observer: &mut dyn BenchmarkObserver) -> u8 {
    execute(args, world, io, observer).unwrap_or_else(|failure| io.fail(&failure))
}

/// Returns where to connect. Prints libpq's warnings, such as one about a password file that others may read, only
/// once.
fn target(target: &ConnectionTarget, env: &Env, io: &mut Io<'_>, for_what: &str) -> Result<ConnectOptions, ExitReason> {
    let target = connect::options(target, io.program(), env).map_err(|failed| failed.during(for_what))?;
    for warning in target.warnings() {
        io.raw(&format!("WARNING: {warning}\n"));
    }
    Ok(target)
}

fn execute(
    args: &[OsString],
    world: World<'_>,
    io: &mut Io<'_>,
    observer: &mut dyn BenchmarkObserver,
) -> Result<u8, ExitReason> {
    let mut library = Library::default();
    let surroundings = Surroundings {
        env: world.env,
        time_seed: world.time_seed,
        strong_seed: world.strong_seed,
        max_open_files: world.max_open_files,
    };
    let parsed = options::parse(args, &surroundings, &mut library, io)?;
    let listen = |listen: &mut dyn FnMut() -> io::Result<()>| {
        listen().map_err(|error| ExitReason::error(format!("could not set up signal handling: {error}")))
    };
    match parsed {
        Parsed::Help => say(io, &options::help(io.program())),
        Parsed::Version => say(io, &options::version()),
        Parsed::ListBuiltins => io.raw(&options::listing(&library)),
        Parsed::ShowScript(builtin) => io.raw(&options::shown(&builtin)),
        Parsed::Init(options) => {
            io.verbose = options.debug;
            listen(world.listen)?;
            let mut target = target(&options.target, world.env, io, "initialization")?.reported_by(world.lookout);
            init::init(&options, &mut target, world.ask, io, world.stop)?;
        }
        Parsed::Run(options) => {
            io.verbose = options.debug;
            observer.options(&options)?;
            listen(world.listen)?;
            let mut target = target(&options.target, world.env, io, "setup")?.reported_by(world.lookout);
            let sources = library.sources(&options);
            let ran = run::run(&options, sources, &mut target, world.ask, io, world.stop, observer)?;
            return Ok(match observer.ended(&options, &ran) {
                Ok(()) => ran.exit_code,
                Err(failure) => {
                    let own = io.fail(&failure);
                    if ran.exit_code == 0 { own } else { ran.exit_code }
                }
            });
        }
    }
    Ok(0)
}

fn say(io: &mut Io<'_>, text: &str) {
    // If standard output is closed, its reader needs no more.
    drop(io.out.write_all(text.as_bytes()).and_then(|()| io.out.flush()));
}
