//! The program as a whole: arguments in, an exit code out.

use std::ffi::OsString;
use std::io;

use pgdyno_engine::Control;
use pgdyno_net::{ConnectOptions, Env};

use crate::connect::{self, Ask};
use crate::init;
use crate::messages::{Failure, Io};
use crate::options::{self, Parsed, Surroundings, Target};
use crate::run;
use crate::scripts::Library;
use crate::witness::Witness;

/// What the program is given by its surroundings.
pub struct World<'a> {
    /// Variables and the user's name.
    pub env: &'a Env,
    /// A seed of the time.
    pub time_seed: u64,
    /// A strong random number.
    pub strong_seed: &'a dyn Fn() -> io::Result<u64>,
    /// The hard limit of open files.
    pub max_open_files: Option<u64>,
    /// Asks the user for a password.
    pub ask: Ask<'a>,
    /// Makes Ctrl-C end the benchmark or the initialization; called once options are read.
    pub listen: &'a mut dyn FnMut() -> io::Result<()>,
    /// What Ctrl-C ends.
    pub control: &'a Control,
}

/// Does what `args` say; they begin with the name that the program was called by. `witness` hears of a benchmark; `()`
/// is nobody.
pub fn main(args: &[OsString], world: World<'_>, io: &mut Io<'_>, witness: &mut dyn Witness) -> u8 {
    carry_out(args, world, io, witness).unwrap_or_else(|failure| io.fail(&failure))
}

/// Where to connect. What libpq warns of for each connection, such as a password file that others may read, is said once.
fn target(target: &Target, env: &Env, io: &mut Io<'_>, for_what: &str) -> Result<ConnectOptions, Failure> {
    let target = connect::options(target, io.program(), env).map_err(|failed| failed.during(for_what))?;
    for warning in target.warnings() {
        io.raw(&format!("WARNING: {warning}\n"));
    }
    Ok(target)
}

fn carry_out(args: &[OsString], world: World<'_>, io: &mut Io<'_>, witness: &mut dyn Witness) -> Result<u8, Failure> {
    let mut library = Library::default();
    let surroundings = Surroundings {
        env: world.env,
        time_seed: world.time_seed,
        strong_seed: world.strong_seed,
        max_open_files: world.max_open_files,
    };
    let parsed = options::parse(args, &surroundings, &mut library, io)?;
    let listen = |listen: &mut dyn FnMut() -> io::Result<()>| {
        listen().map_err(|error| Failure::error(format!("could not set up signal handling: {error}")))
    };
    match parsed {
        Parsed::Help => say(io, &options::help(io.program())),
        Parsed::Version => say(io, &options::version()),
        Parsed::ListBuiltins => io.raw(&options::listing(&library)),
        Parsed::ShowScript(builtin) => io.raw(&options::shown(&builtin)),
        Parsed::Init(chosen) => {
            io.verbose = chosen.debug;
            listen(world.listen)?;
            let mut target = target(&chosen.target, world.env, io, "initialization")?;
            init::init(&chosen, &mut target, world.ask, io, world.control.stop_flag())?;
        }
        Parsed::Run(chosen) => {
            io.verbose = chosen.debug;
            witness.options(&chosen)?;
            listen(world.listen)?;
            let mut target = target(&chosen.target, world.env, io, "setup")?;
            let sources = library.chosen(&chosen);
            let ran = run::run(&chosen, sources, &mut target, world.ask, io, world.control, witness)?;
            return Ok(match witness.ended(&chosen, &ran) {
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
    // A reader that has gone away has seen enough.
    drop(io.out.write_all(text.as_bytes()).and_then(|()| io.out.flush()));
}
